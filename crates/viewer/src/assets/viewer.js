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
    let text = button.dataset.copy ?? button.parentElement.querySelector('pre')?.textContent;
    if (button.dataset.copyFrom) text = await (await fetch(button.dataset.copyFrom)).text();
    await write(text);
    copied(button);
  };

  // Each block of code in an answer gets a button that copies it.
  const codes = () => {
    for (const pre of $$('.md pre')) {
      if (pre.parentElement.matches('.codebox')) continue;
      const box = document.createElement('div');
      box.className = 'codebox';
      pre.replaceWith(box);
      const button = document.createElement('button');
      Object.assign(button, { type: 'button', className: 'button small copy', textContent: 'Copy' });
      button.dataset.copyCode = '';
      box.append(pre, button);
    }
  };

  // --- Colours -----------------------------------------------------------------------------------
  const THEMES = { '': 'Theme: system', 'light': 'Theme: light', 'dark': 'Theme: dark' };
  const chosen = () => {
    try { return localStorage.getItem('annals-theme') || ''; } catch { return document.documentElement.dataset.theme || ''; }
  };
  const paint = (theme = chosen()) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    const button = $('[data-theme-next]');
    if (button) button.textContent = THEMES[theme] ?? THEMES[''];
  };
  const nextTheme = () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(chosen()) + 1) % names.length];
    try { localStorage.setItem('annals-theme', next); } catch { /* private mode */ }
    paint(next);
  };

  // --- What is shown, once it is there ----------------------------------------------------------
  const dress = () => {
    for (const button of $$('button[hidden], [data-scripted][hidden]')) button.hidden = false;
    paint();
    codes();
    // On a phone the tabs do not fit.
    const tab = $('.tabs a[aria-current]');
    if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - 40;
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
    // The entries of the navigation are the same on each page; their addresses and the inbox's count differ.
    const entries = $$('.top nav a', page);
    for (const [index, link] of $$('.top nav a').entries()) {
      const other = entries[index];
      if (!other) break;
      link.setAttribute('href', other.getAttribute('href'));
      if (link.textContent !== other.textContent) link.replaceChildren(...other.childNodes);
    }
    // The header's box searches the moment that is shown; its words stay.
    $('.top .find input[name=at]')?.remove();
    const moment = $('.top .find input[name=at]', page);
    if (moment) $('.top .find').prepend(moment);
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
    const turn = (number, more = '', how = {}) => {
      const step = document.getElementById('turn-' + number);
      if (step) { goto(step, how); return step; }
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
      return answer.ok ? (await answer.json()).data.turns : [];
    };
    // Marks all matches, and returns their ranges.
    const mark = (words) => {
      CSS.highlights?.delete('find');
      if (!words) return [];
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
      if (window.Highlight && CSS.highlights) CSS.highlights.set('find', new Highlight(...ranges));
      return ranges;
    };
    // Opens the folds around the first match of a turn and scrolls to it. A match beyond what is shown is loaded.
    const reveal = async (step, words) => {
      const within = (part) => mark(words).find((range) => part.contains(range.startContainer));
      let match = within(step);
      if (!match && $('a[data-inline=turn]', step)) {
        step = await inline($('a[data-inline=turn]', step)) ?? step;
        match = within(step);
      }
      const from = match?.startContainer.parentElement;
      for (let fold = from?.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
      if (!from) { for (const fold of $$('details', step)) fold.open = true; return; }
      const box = match.getBoundingClientRect();
      from.closest('.out')?.scrollTo({ top: from.closest('.out').scrollTop + box.top - from.closest('.out').getBoundingClientRect().top - 60 });
      const at = match.getBoundingClientRect();
      if (at.top < 130 || at.bottom > innerHeight - 40) scrollBy({ top: at.top - innerHeight / 3, behavior: 'instant' });
    };
    const find = async (by) => {
      const input = $('.bar .find input[name=q]');
      const words = input.value.trim();
      const count = $('.bar .find output');
      if (!words) { found = { words: null, turns: [], now: -1 }; count.textContent = ''; mark(''); return; }
      if (found.words !== words) {
        const first = Number(here()?.dataset.turn ?? 0);
        const turns = (await ask('q=' + encodeURIComponent(words))).map((one) => one.number);
        const at = turns.findIndex((number) => number >= first);
        found = { words, turns, now: by > 0 ? Math.max(at, 0) - 1 : Math.max(at, 0) };
      }
      const all = found.turns.length;
      if (!all) { count.textContent = 'none'; mark(''); return; }
      found.now = (found.now + by + all) % all;
      count.textContent = (found.now + 1) + ' of ' + all;
      // The focus stays where it is: in the box, for the next Enter, or where the reader went meanwhile.
      const step = turn(found.turns[found.now], '&find=' + encodeURIComponent(words), { focus: false });
      if (step) await reveal(step, words.toLowerCase());
    };
    // The turn of this session that a step is of, or in: a sub-agent's turns are in the turn that started it.
    const outermost = (step) => {
      let turn = step;
      for (let above = step; above; above = above.parentElement?.closest('.step')) turn = above;
      return Number(turn?.dataset.turn ?? 0);
    };
    const place = (one) => one.under ?? one.number;
    // Goes to a failed turn of a sub-agent: in its place below the turn that started it, or on its own page.
    const below = async (one) => {
      const own = '/sessions/' + one.session + '?from=' + Math.max(1, one.number - 20) + '#turn-' + one.number;
      const start = document.getElementById('turn-' + one.under);
      if (!start) { location.href = own; return; }
      const within = () => $$('.chunk[data-session="' + one.session + '"] .step', start).find((step) => step.dataset.turn === String(one.number));
      const link = $$('a[data-inline=session]', start).find((it) => it.getAttribute('href').includes(one.session));
      if (!within() && link) await inline(link, one.session);
      if (within()) goto(within());
      else location.href = own;
    };
    const error = async (by) => {
      failed ??= { all: await ask('failed=1'), now: null };
      const count = $('.bar .errors');
      const all = failed.all;
      if (!all.length) { count.textContent = 'no errors'; return; }
      const step = here();
      const at = outermost(step);
      const isThere = failed.now !== null && step && place(all[failed.now]) === at;
      const next = isThere ? failed.now + by : by > 0 ? all.findIndex((one) => place(one) > at) : all.findLastIndex((one) => place(one) < at);
      const wraps = next < 0 || next >= all.length;
      failed.now = wraps ? (by > 0 ? 0 : all.length - 1) : next;
      const again = wraps && step ? (by > 0 ? ', from the start' : ', from the end') : '';
      count.textContent = (failed.now + 1) + ' of ' + all.length + again;
      const one = all[failed.now];
      if (one.session) await below(one);
      else turn(one.number);
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
    // Marks the prompt that is read in the list of prompts.
    let marking = false;
    const markRead = () => {
      marking = false;
      const cards = $$('#turns > .chunk > [aria-posinset]');
      const read = cards.filter((card) => card.getBoundingClientRect().top < 200).at(-1) ?? cards[0];
      for (const link of $$('.rail ol a')) {
        if (read && $('.pn', link)?.textContent === read.getAttribute('aria-posinset')) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      }
    };
    addEventListener('scroll', () => {
      if (marking || !area()) return;
      marking = true;
      requestAnimationFrame(markRead);
    }, { passive: true });
    const start = () => {
      watcher?.disconnect();
      watcher = null;
      if (!area()) return;
      dress();
      markRead();
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
    const inline = async (link, of = null) => {
      try {
        const page = await parse(link.href);
        const whole = link.closest('.step');
        if (link.dataset.inline === 'turn' && whole) {
          const fresh = document.importNode(page.getElementById(whole.id), true);
          for (const details of $$('details', fresh)) details.open = true;
          const [isHere, isFocus] = [whole.classList.contains('here'), whole.contains(document.activeElement)];
          whole.replaceWith(fresh);
          fresh.classList.toggle('here', isHere);
          if (isFocus) fresh.focus({ preventScroll: true });
          dress();
          return fresh;
        }
        const chunks = $$('.chunk', page);
        for (const one of $$('[id]', page)) one.removeAttribute('id');
        for (const chunk of chunks) chunk.dataset.session = of ?? link.pathname.split('/')[2];
        link.replaceWith(...chunks);
        dress();
      } catch { location.href = link.href; }
    };
    const copyTurn = async () => {
      const step = here();
      if (!step) return;
      await write(await (await fetch(add(area().dataset.export, 'format=markdown&from=' + step.dataset.turn + '&limit=1'))).text());
    };
    const tab = (number) => { $$('.tabs a')[number - 1]?.click(); };
    return { area, start, refresh, goto, reveal, move, prompts, fold, foldAll, answers, layout, find, error, inline, copyTurn, tab };
  })();

  // --- Search while typing -------------------------------------------------------------------------
  // The header's box as a combobox: its list box comes from the server, and the box keeps the focus.
  const suggest = () => {
    const PAUSE = 120; // ms without a key before words are asked for
    const LEAST = 2; // characters
    const AGAIN = 1000; // ms until a list is asked for again while the search index grows
    const MOST = 120; // times
    const [form, input, box, said] = ['.top .find', '#find-all', '#suggest', '#suggest-said'].map((part) => $(part));
    let due, asking = null, chosen = -1, times = 0;
    const options = () => $$('[role=option]', box);
    const isLong = () => input.value.trim().length >= LEAST;
    const choose = (number) => {
      const all = options();
      chosen = all[number] ? number : -1;
      all.forEach((option, at) => option.setAttribute('aria-selected', String(at === chosen)));
      if (chosen < 0) { input.removeAttribute('aria-activedescendant'); return; }
      input.setAttribute('aria-activedescendant', all[chosen].id);
      all[chosen].scrollIntoView({ block: 'nearest', behavior: 'instant' });
    };
    const close = () => {
      clearTimeout(due);
      asking?.abort();
      box.hidden = true;
      box.replaceChildren();
      input.setAttribute('aria-expanded', 'false');
      input.removeAttribute('aria-controls');
      said.textContent = '';
      choose(-1);
    };
    const open = (list) => {
      const address = options()[chosen]?.getAttribute('href');
      box.replaceChildren(list);
      box.hidden = false;
      const isList = options().length > 0;
      input.setAttribute('aria-expanded', String(isList));
      if (isList) input.setAttribute('aria-controls', 'suggestions');
      choose(options().findIndex((option) => option.getAttribute('href') === address));
      const words = list.dataset.said ?? list.textContent;
      if (said.textContent !== words) said.textContent = words;
      if ('growing' in list.dataset && times++ < MOST) due = setTimeout(ask, AGAIN);
    };
    const failed = () => {
      const note = document.createElement('p');
      note.className = 'note';
      note.textContent = 'The search does not answer now.';
      return note;
    };
    const ask = async () => {
      clearTimeout(due);
      asking?.abort();
      const { signal } = asking = new AbortController();
      let list = null;
      try {
        const answer = await fetch('/search/suggestions?' + new URLSearchParams(new FormData(form)), { signal });
        if (answer.ok) list = $('.suggestions', new DOMParser().parseFromString(await answer.text(), 'text/html'));
      } catch { /* aborted, or the server is gone */ }
      if (!signal.aborted) open(list ?? failed());
    };
    input.setAttribute('role', 'combobox');
    input.setAttribute('aria-autocomplete', 'list');
    input.setAttribute('aria-expanded', 'false');
    input.addEventListener('input', () => {
      times = 0;
      if (!isLong()) { close(); return; }
      choose(-1);
      asking?.abort();
      clearTimeout(due);
      due = setTimeout(ask, PAUSE);
    });
    input.addEventListener('focus', () => { if (box.hidden && isLong()) ask(); });
    input.addEventListener('keydown', (event) => {
      const by = { 'ArrowDown': 1, 'ArrowUp': -1 }[event.key];
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (by && (!box.hidden || isLong())) {
        event.preventDefault();
        if (box.hidden) { ask(); return; }
        const all = options().length;
        // Behind the last entry, and before the first one, is the box itself.
        choose((chosen + 1 + by + all + 1) % (all + 1) - 1);
      } else if (event.key === 'Enter' && chosen >= 0) {
        event.preventDefault();
        options()[chosen].click();
      } else if (event.key === 'Escape' && !box.hidden) {
        event.preventDefault();
        event.stopPropagation();
        close();
      } else if (event.key === 'Tab' || event.key === 'Enter') {
        close();
      }
    });
    // A press on an entry does not take the focus from the box.
    box.addEventListener('mousedown', (event) => event.preventDefault());
    document.addEventListener('pointerdown', (event) => { if (!form.contains(event.target)) close(); });
    form.addEventListener('focusout', (event) => { if (event.relatedTarget && !form.contains(event.relatedTarget)) close(); });
    addEventListener('pagehide', close);
  };
  if ($('#suggest')) suggest();

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
  const openKeys = () => {
    $('#keys').showModal();
    $('#keys [data-close]').focus({ preventScroll: true });
    $('#keys').scrollTop = 0;
  };
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
    'J': () => $('[data-neighbour=next]')?.click(), 'K': () => $('[data-neighbour=previous]')?.click(),
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
    '?': () => { const help = $('#keys'); if (help.open) help.close(); else openKeys(); },
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
    if (button?.matches('[data-copy], [data-copy-from], [data-copy-code]')) copy(button);
    if (button?.matches('[data-theme-next]')) nextTheme();
    if (button?.matches('[data-keys]')) openKeys();
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
  // A filter holds as soon as it is chosen. With keys a choice may be one of many on the way: it holds with Enter, or when
  // the field is left.
  let typed = null;
  document.addEventListener('keydown', (event) => {
    const field = event.target;
    if (!field.matches('form.filters select, form.filters input[type=date]')) return;
    if (event.key === 'Enter' && typed === field) field.form.requestSubmit();
    else if (event.key !== 'Tab') typed = field;
  });
  document.addEventListener('pointerdown', () => { typed = null; });
  document.addEventListener('change', (event) => {
    const form = event.target.closest('form.filters');
    if (!form || !event.target.matches('select, input[type=checkbox], input[type=date]')) return;
    if (typed === event.target) event.target.addEventListener('blur', () => form.requestSubmit(), { once: true });
    else form.requestSubmit();
  });

  // On a phone the entries of the navigation do not fit.
  $('.top nav a[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  dress();
  session.start();
  const linked = /^#turn-\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
  if (linked) session.goto(linked);
  const sought = session.area() && $('.bar .find input[name=q]')?.value.trim().toLowerCase();
  if (linked && sought) session.reveal(linked, sought);
  follow();
})();
