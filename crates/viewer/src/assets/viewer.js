// What pages do beyond being read: they follow the log, move through time, copy, and go by keyboard.
// Every page works without it. It asks nothing but this server, and runs nothing that it is given: what comes is parsed as
// a document, whose scripts do not run.
'use strict';
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  let end = Number(document.body.dataset.end);
  let asked = 0;

  // --- Copying ---------------------------------------------------------------------------------
  const copied = (button) => {
    const label = button.textContent;
    button.textContent = 'Copied';
    button.classList.add('done');
    setTimeout(() => { button.textContent = label; button.classList.remove('done'); }, 1200);
  };
  const write = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Without TLS browsers have no clipboard but for this machine.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  };
  const copy = async (button) => {
    let text = button.dataset.copy;
    if (button.dataset.copyFrom) text = await (await fetch(button.dataset.copyFrom)).text();
    await write(text);
    copied(button);
  };

  // --- What is shown, once it is there ----------------------------------------------------------
  const dress = () => {
    for (const button of $$('button[hidden]')) button.hidden = false;
    const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
    for (const time of $$('time[datetime]:not([title])')) {
      const date = new Date(time.dateTime);
      if (!Number.isNaN(date.valueOf())) time.title = local.format(date);
    }
  };

  // Puts another version of this page in the place of what is shown.
  const show = async (address, { keep = false } = {}) => {
    const turn = ++asked;
    let text;
    try {
      const answer = await fetch(address, { headers: { accept: 'text/html' } });
      text = await answer.text();
    } catch { return; }
    if (turn !== asked) return;
    const page = new DOMParser().parseFromString(text, 'text/html');
    const open = new Set($$('main details[open][id]').map((details) => details.id));
    const focus = document.activeElement;
    const slides = focus && focus.matches('.moment input');
    const href = focus && focus.closest('main') ? focus.getAttribute('href') : null;
    const before = end;
    const fresh = $('main', page);
    // What is wrong is said on a page of another form: what is shown stays.
    if (!fresh || !$('.moment', page)) return;
    $('main').replaceWith(fresh);
    const footer = $('footer', page);
    if (footer) $('footer').replaceWith(footer);
    // The slider stays while it is moved.
    if (slides) {
      for (const part of ['.moment .said', '.moment .back']) {
        const [old, now] = [$(part), $(part, page)];
        if (old && now) old.replaceWith(now);
      }
      $('.moment').className = $('.moment', page).className;
      $('.moment input[type=text]').value = $('.moment input[type=text]', page).value;
    } else {
      $('.moment').replaceWith($('.moment', page));
    }
    for (const link of $$('.top nav a')) {
      const other = $$('.top nav a', page).find((it) => it.textContent === link.textContent);
      if (other) link.setAttribute('href', other.getAttribute('href'));
    }
    document.title = page.title;
    const body = page.body.dataset;
    end = Math.max(end, Number(body.end));
    for (const name of ['end', 'live', 'address']) document.body.dataset[name] = body[name];
    for (const details of $$('main details[id]')) if (open.has(details.id)) details.open = true;
    if (href) $$('main a').find((link) => link.getAttribute('href') === href)?.focus();
    if (!keep) history.replaceState(null, '', body.address);
    else for (const row of $$('main [data-position]')) row.classList.toggle('new', Number(row.dataset.position) > before);
    dress();
  };

  // --- Time --------------------------------------------------------------------------------------
  let waiting;
  const slide = (range) => {
    const address = new URL(range.form.action);
    for (const field of range.form.elements) {
      if (field.type === 'hidden') address.searchParams.set(field.name, field.value);
    }
    if (range.value !== range.max) address.searchParams.set(range.dataset.by, range.value);
    clearTimeout(waiting);
    waiting = setTimeout(() => show(address), 60);
  };
  document.addEventListener('input', (event) => {
    if (event.target.matches('.moment input[type=range]')) slide(event.target);
  });
  const step = (by) => {
    const range = $('.moment input[type=range]');
    if (!range) return;
    range.value = Number(range.value) + by;
    slide(range);
  };

  // --- Following the log -------------------------------------------------------------------------
  let due = null;
  const soon = () => {
    const busy = !getSelection().isCollapsed || document.activeElement?.matches('input, select, textarea');
    if (due || document.hidden) return;
    due = setTimeout(() => {
      due = null;
      if (busy && !getSelection().isCollapsed) return soon();
      show(location.href, { keep: true });
    }, 250);
  };
  const said = (on, text) => {
    const live = $('.live');
    live.classList.toggle('on', on);
    $('.said', live).textContent = text;
  };
  const follow = () => {
    const source = new EventSource('/api/v1/live?after=' + end);
    source.addEventListener('open', () => said(true, 'live'));
    source.addEventListener('error', () => {
      said(false, 'not live');
      // Refused, not only interrupted: try again later, from where we are.
      if (source.readyState === EventSource.CLOSED) setTimeout(follow, 5000);
    });
    source.addEventListener('records', (event) => {
      const news = JSON.parse(event.data);
      const wanted = document.body.dataset.live;
      if (!wanted) return;
      if (wanted === 'log' || news.more || news.streams.some((name) => wanted.split(' ').includes(name))) soon();
    });
    addEventListener('pagehide', () => source.close(), { once: true });
  };
  document.addEventListener('visibilitychange', () => { if (!document.hidden && document.body.dataset.live) soon(); });

  // --- Keyboard ----------------------------------------------------------------------------------
  // Of each row its first link.
  const rows = () => [...$$('main tbody tr').map((row) => $('a', row)), ...$$('main .tree a, main .card h2 a')]
    .filter((link) => link?.offsetParent);
  const move = (by) => {
    const links = rows();
    if (!links.length) return;
    const now = links.indexOf(document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, now < 0 ? (by > 0 ? 0 : links.length - 1) : now + by))].focus();
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, select, textarea')) return;
    const help = $('#keys');
    const does = {
      'j': () => move(1), 'k': () => move(-1), '[': () => step(-1), ']': () => step(1),
      '/': () => {
        const words = $('form.search input[type=search]');
        if (words) words.focus();
        else location.href = new URL($$('.top nav a').find((link) => new URL(link.href).pathname === '/search').href);
      },
      'n': () => { const back = $('.moment .back a'); if (back) back.click(); },
      '?': () => help.open ? help.close() : help.showModal(),
    }[event.key];
    if (does) { event.preventDefault(); does(); }
  });
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button?.matches('[data-copy], [data-copy-from]')) copy(button);
    if (button?.matches('[data-keys]')) $('#keys').showModal();
    if (button?.matches('[data-close]')) $('#keys').close();
  });

  // On a phone the entries of the navigation do not fit.
  $('.top nav a[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  dress();
  follow();
})();
