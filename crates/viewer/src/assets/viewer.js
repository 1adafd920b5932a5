// Enhances pages that work without it: follows the log, moves through time, copies, loads turns, and adds the keys.
// Every page works without it. It asks nothing but this server, and runs nothing that it is given: what comes is parsed as
// a document, whose scripts do not run.
'use strict';
(() => {
  document.documentElement.classList.add('scripted');
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
    for (const button of $$('button[hidden], [data-scripted][hidden]')) button.hidden = false;
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
    const travels = $('.moment').classList.contains('open');
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
    $('.moment').classList.toggle('open', travels);
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
    session.start();
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
      if ($('#turns')) session.refresh();
      else show(location.href, { keep: true });
    }, $('#turns') ? 1000 : 250);
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

  // --- A session's turns ---------------------------------------------------------------------------
  const session = (() => {
    const HELD = 3; // chunks of turns in the page; others are spacers of the same height
    let found = { words: null, turns: [], now: -1 };
    let failed = null;
    const area = () => $('#turns');
    const steps = () => $$('#turns .step').filter((step) => step.checkVisibility());
    const here = () => $('#turns .step.here');
    const parse = async (address) => {
      const answer = await fetch(address, { headers: { accept: 'text/html' } });
      if (!answer.ok) throw new Error(String(answer.status));
      return new DOMParser().parseFromString(await answer.text(), 'text/html');
    };
    const goto = (step, { focus = true } = {}) => {
      if (!step) return;
      here()?.classList.remove('here');
      step.classList.add('here');
      for (let fold = step.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
      if (focus) step.focus({ preventScroll: true });
      step.scrollIntoView({ block: 'start', behavior: 'instant' });
    };
    const turn = (number, more = '') => {
      const step = document.getElementById('turn-' + number);
      if (step) { goto(step); return; }
      location.href = add(area().dataset.page, 'from=' + number + more) + '#turn-' + number;
    };
    const move = (by, all = steps()) => {
      if (!all.length) return;
      const at = here();
      let now = at ? all.indexOf(at) : -1;
      if (at && now < 0) now = all.findIndex((step) => at.compareDocumentPosition(step) & Node.DOCUMENT_POSITION_FOLLOWING) - (by > 0 ? 1 : 0);
      if (!at) now = by > 0 ? all.findIndex((step) => step.getBoundingClientRect().top > 100) - 1 : all.length;
      goto(all[Math.min(all.length - 1, Math.max(0, now + by))]);
    };
    const prompts = () => $$('#turns .step.said');
    const fold = () => { const details = $('details', here() ?? document.createElement('p')); if (details) details.open = !details.open; };
    const foldAll = () => {
      const all = $$('#turns details');
      const open = all.some((details) => !details.open);
      for (const details of all) details.open = open;
    };
    const answers = () => {
      const on = document.documentElement.classList.toggle('answers-only');
      for (const button of $$('[data-do=answers]')) button.setAttribute('aria-pressed', String(on));
    };
    const add = (address, query) => address + (address.includes('?') ? '&' : '?') + query;
    const layout = () => {
      const other = $('a[data-layout]:not([aria-current])');
      if (other) location.href = other.href + (here() ? '#' + here().id : '');
    };
    const ask = async (query) => {
      const answer = await fetch(add(area().dataset.find, query));
      return answer.ok ? (await answer.json()).data.turns.map((one) => one.number) : [];
    };
    const mark = (words) => {
      if (!window.Highlight || !CSS.highlights) return;
      CSS.highlights.delete('find');
      if (!words) return;
      const ranges = [];
      const walker = document.createTreeWalker(area(), NodeFilter.SHOW_TEXT);
      while (walker.nextNode() && ranges.length < 2000) {
        const text = walker.currentNode.data.toLowerCase();
        for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
          const range = new Range();
          range.setStart(walker.currentNode, at);
          range.setEnd(walker.currentNode, Math.min(walker.currentNode.length, at + words.length));
          ranges.push(range);
        }
      }
      CSS.highlights.set('find', new Highlight(...ranges));
    };
    const find = async (by) => {
      const input = $('.bar .find input[name=q]');
      const words = input.value.trim();
      const count = $('.bar .find output');
      if (!words) { found = { words: null, turns: [], now: -1 }; count.textContent = ''; mark(''); return; }
      if (found.words !== words) {
        const first = Number(here()?.dataset.turn ?? 0);
        const turns = await ask('q=' + encodeURIComponent(words));
        const at = turns.findIndex((number) => number >= first);
        found = { words, turns, now: by > 0 ? Math.max(at, 0) - 1 : Math.max(at, 0) };
      }
      const all = found.turns.length;
      if (!all) { count.textContent = 'none'; mark(''); return; }
      found.now = (found.now + by + all) % all;
      count.textContent = (found.now + 1) + ' of ' + all;
      mark(words.toLowerCase());
      turn(found.turns[found.now], '&find=' + encodeURIComponent(words));
      input.focus({ preventScroll: true });
    };
    const error = async (by) => {
      failed ??= await ask('failed=1');
      if (!failed.length) return;
      const at = Number(here()?.dataset.turn ?? 0);
      const next = by > 0 ? failed.find((number) => number > at) ?? failed[0] : failed.findLast((number) => number < at) ?? failed.at(-1);
      turn(next);
    };
    // Replaces the oldest chunks outside of the window by spacers, and spacers in it by their chunks.
    let watcher = null;
    const load = async (target) => {
      if (target.dataset.busy) return;
      target.dataset.busy = '1';
      try {
        const page = await parse(target.dataset.address);
        const fresh = $$('.chunk, #turns > .next', page);
        const before = target.matches('.gone');
        target.replaceWith(...(before ? fresh.filter((it) => it.matches('.chunk')) : fresh));
        trim(before);
        start();
      } catch { delete target.dataset.busy; }
    };
    const trim = (before) => {
      const chunks = $$('#turns .chunk');
      if (chunks.length <= HELD) return;
      const chunk = before ? chunks.at(-1) : chunks[0];
      if (chunk.contains(document.activeElement) || chunk.querySelector('.here')) return;
      const gone = document.createElement('div');
      gone.className = 'gone';
      gone.style.height = chunk.getBoundingClientRect().height + 'px';
      gone.dataset.address = add(area().dataset.turns, 'from=' + chunk.dataset.from);
      chunk.replaceWith(gone);
    };
    const start = () => {
      watcher?.disconnect();
      watcher = null;
      if (!area()) return;
      dress();
      watcher = new IntersectionObserver((seen) => {
        for (const one of seen) if (one.isIntersecting) load(one.target);
      }, { rootMargin: '1200px' });
      for (const next of $$('#turns .next[data-address], #turns .gone')) watcher.observe(next);
    };
    // Shows what is new at the end, if the end is shown.
    const refresh = async () => {
      const last = $$('#turns .chunk').at(-1);
      if (!last || $('#turns .next')) return;
      let page;
      try { page = await parse(add(area().dataset.page, 'from=' + last.dataset.from)); } catch { return; }
      const open = new Set($$('details[open][id]', last).map((details) => details.id));
      const shut = new Set($$('details:not([open])[id]', last).map((details) => details.id));
      const now = $('.here', last)?.id;
      const fresh = $$('#turns > .chunk, #turns > .next', page);
      last.replaceWith(...fresh);
      for (const details of $$('#turns details[id]')) {
        if (open.has(details.id)) details.open = true;
        if (shut.has(details.id)) details.open = false;
      }
      if (now) document.getElementById(now)?.classList.add('here');
      for (const part of ['.titlebar', 'main .facts']) {
        const [old, other] = [$(part), $(part, page)];
        if (old && other) old.replaceWith(other);
      }
      end = Math.max(end, Number(page.body.dataset.end));
      failed = null;
      found.words = null;
      start();
    };
    // Shows a sub-agent's conversation, or a whole result, in its place.
    const inline = async (link) => {
      try {
        const page = await parse(link.href);
        const whole = link.closest('.step');
        if (link.dataset.inline === 'turn' && whole) {
          const fresh = document.importNode(page.getElementById(whole.id), true);
          for (const details of $$('details', fresh)) details.open = true;
          whole.replaceWith(fresh);
        } else {
          const chunks = $$('.chunk', page);
          for (const one of $$('[id]', page)) one.removeAttribute('id');
          link.replaceWith(...chunks);
        }
        dress();
      } catch { location.href = link.href; }
    };
    const copyTurn = async () => {
      const step = here();
      if (!step) return;
      await write(await (await fetch(add(area().dataset.export, 'format=markdown&from=' + step.dataset.turn + '&limit=1'))).text());
    };
    const tab = (number) => { $$('.tabs a')[number - 1]?.click(); };
    return { area, start, refresh, goto, move, prompts, fold, foldAll, answers, layout, find, error, inline, copyTurn, tab };
  })();

  // --- Keyboard ----------------------------------------------------------------------------------
  // The first link of each row.
  const rows = () => [...$$('main tbody tr').map((row) => $('a', row)), ...$$('main .tree a, main .card h2 a')]
    .filter((link) => link?.offsetParent);
  const move = (by) => {
    const links = rows();
    if (!links.length) return;
    const now = links.indexOf(document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, now < 0 ? (by > 0 ? 0 : links.length - 1) : now + by))].focus();
  };
  const section = (path) => { location.href = $$('.top nav a').find((link) => new URL(link.href).pathname === path).href; };
  const travel = () => {
    $('.moment').classList.toggle('open');
    $('.moment.open input[type=range]')?.focus();
  };
  let single = true;
  try { single = localStorage.getItem('annals-single-keys') !== 'off'; } catch { /* private mode */ }
  const box = $('[data-single-keys]');
  if (box) {
    box.checked = single;
    box.addEventListener('change', () => {
      single = box.checked;
      try { localStorage.setItem('annals-single-keys', single ? 'on' : 'off'); } catch { /* private mode */ }
    });
  }
  let began = 0; // when g was pressed
  const inSession = () => ({
    'j': () => session.move(1), 'k': () => session.move(-1),
    'n': () => session.move(1, session.prompts()), 'p': () => session.move(-1, session.prompts()),
    'o': session.fold, 'O': session.foldAll, 'e': () => session.error(1), 'E': () => session.error(-1),
    'a': session.answers, '/': () => $('.bar .find input[name=q]').focus(), 'y': session.copyTurn,
  });
  const ofSession = () => ({
    'u': session.layout,
    'r': () => $('[data-resume]')?.click(),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((number) => [String(number), () => session.tab(number)])),
  });
  const everywhere = () => ({
    'j': () => move(1), 'k': () => move(-1), '[': () => step(-1), ']': () => step(1), 't': travel,
    'x': () => { const fold = $('details', document.activeElement?.closest('tr') ?? document.createElement('p')); if (fold) fold.open = !fold.open; },
    'f': () => $('form.filters select, form.filters input')?.focus(),
    'g': () => { began = Date.now(); },
    '/': () => {
      const words = $('form.search input[type=search]');
      if (words) words.focus();
      else section('/search');
    },
    'n': () => { const back = $('.moment .back a'); if (back) back.click(); },
    '?': () => { const help = $('#keys'); if (help.open) help.close(); else help.showModal(); },
  });
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k' && !event.altKey) {
      event.preventDefault();
      ($('.top .find input[type=search]')?.checkVisibility() ? $('.top .find input[type=search]') : $('form.search input[type=search]'))?.focus();
      return;
    }
    if (event.key === 'Escape') {
      $('.moment')?.classList.remove('open');
      for (const menu of $$('details.menu[open]')) menu.open = false;
      if (event.target.matches('input')) event.target.blur();
      return;
    }
    if (event.target.matches('.bar .find input') && event.key === 'Enter') {
      event.preventDefault();
      session.find(event.shiftKey ? -1 : 1);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, select, textarea')) return;
    if (!single && event.key.length === 1) return;
    if (began && Date.now() - began < 1500) {
      began = 0;
      const path = { 's': '/', 'c': '/costs', 'i': '/inbox' }[event.key];
      if (path) { event.preventDefault(); section(path); return; }
    }
    const keys = { ...everywhere(), ...($('.tabs') && $('main.sessions') ? ofSession() : {}), ...(session.area() ? inSession() : {}) };
    const does = keys[event.key];
    if (does) { event.preventDefault(); does(); }
  });
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button?.matches('[data-copy], [data-copy-from]')) copy(button);
    if (button?.matches('[data-keys]')) $('#keys').showModal();
    if (button?.matches('[data-close]')) $('#keys').close();
    if (button?.matches('[data-do=answers]')) session.answers();
    if (button?.matches('[data-do=unfold]')) session.foldAll();
    if (button?.matches('[data-do=find-next]')) session.find(1);
    if (button?.matches('[data-do=find-previous]')) session.find(-1);
    const link = event.target.closest('a');
    if (link?.matches('[data-do=error]')) { event.preventDefault(); session.error(1); }
    if (link?.matches('[data-inline]')) { event.preventDefault(); session.inline(link); }
    if (link?.id === 'travel') { event.preventDefault(); travel(); }
    for (const menu of $$('details.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
  });
  // A filter holds as soon as it is chosen.
  document.addEventListener('change', (event) => {
    const form = event.target.closest('form.filters');
    if (form && event.target.matches('select, input[type=checkbox], input[type=date]')) form.requestSubmit();
  });

  // On a phone the entries of the navigation do not fit.
  $('.top nav a[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  dress();
  session.start();
  const linked = /^#turn-\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
  if (linked) session.goto(linked);
  follow();
})();
