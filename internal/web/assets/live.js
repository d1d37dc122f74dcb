// Follows the subject of a page, and offers the new state: nothing is exchanged under its reader.
const bar = document.getElementById('live');
const follow = document.body.dataset.follow;

// The door is for those who come with a secret, or need one.
const knock = () => { if (/^#k=/.test(location.hash) || ['door', 'pair'].includes(document.body.dataset.screen)) import('./door.js'); };
knock();
addEventListener('hashchange', knock);
const titled = document.title;
let first = document.body.dataset.print; // what happens before the stream is open counts too

export function say(text, action, label) {
  const line = document.createElement('p');
  line.className = 'wrap';
  line.textContent = text + ' ';
  if (action) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.addEventListener('click', action);
    line.append(button);
  }
  bar.replaceChildren(line);
}

function changed(event) {
  const now = JSON.parse(event.data);
  document.title = (now.waiting ? `(${now.waiting}) ` : '') + titled;
  document.dispatchEvent(new CustomEvent('state', { detail: now }));
  first ??= now.print;
  if (now.print !== first) say(bar.dataset.changed, () => location.reload(), bar.dataset.show);
  else bar.replaceChildren();
}

if (follow) {
  let source;
  const open = () => {
    source = new EventSource('/events?follow=' + encodeURIComponent(follow));
    source.addEventListener('changed', changed);
    source.addEventListener('error', () => say(bar.dataset.lost));
  };
  open();
  // A browser lets few streams be open at once: those of hidden pages give way.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) source.close();
    else if (source.readyState === EventSource.CLOSED) open();
  });
}

const refused = sessionStorage.getItem('bmad-refused');
if (refused) {
  say(refused);
  sessionStorage.removeItem('bmad-refused');
}

if (/[#&][kp]=/.test(location.hash)) import('./door.js');

// Times are those of the browser's own zone, also in what the server answers.
export const local = (text) => text.replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, (at) => new Date(at).toLocaleString(document.documentElement.lang, { dateStyle: 'medium', timeStyle: 'short' }));
for (const time of document.querySelectorAll('time[datetime]')) time.textContent = local(time.dateTime);

// A field of one line keeps what is typed into it until it is sent, over loads of the page.
for (const field of document.querySelectorAll('input[type=search], form[data-passkeys] input')) {
  const name = `bmad-field:${location.pathname}${location.search} ${field.name}`;
  field.value = sessionStorage.getItem(name) ?? field.value;
  field.addEventListener('input', () => sessionStorage.setItem(name, field.value));
  field.form.addEventListener('submit', () => sessionStorage.removeItem(name));
}

// Keys: each moves or focuses, none decides. They are read outside of fields only.
const off = 'bmad-keys-off';
const help = document.getElementById('keys');
const button = document.getElementById('keys-help');
let before = '';

export const focus = (selector) => document.querySelector(selector)?.focus();
export const keys = {
  '?': () => help.showModal(), '/': () => focus('input[type=search]'),
  gi: () => { location.href = '/'; }, gr: () => { location.href = document.querySelector('.trail a:last-of-type')?.href ?? '/'; },
};

function pressed(e) {
  const typing = e.target.closest?.('input, textarea, select, dialog');
  if (typing || e.ctrlKey || e.metaKey || e.altKey || localStorage.getItem(off)) return;
  const key = before + e.key;
  before = e.key === 'g' && !before ? 'g' : '';
  if (!keys[key]) return;
  e.preventDefault();
  keys[key]();
}

if (help) {
  document.addEventListener('keydown', pressed);
  button.hidden = false;
  button.addEventListener('click', () => help.showModal());
  const box = help.querySelector('input');
  box.checked = !localStorage.getItem(off);
  box.addEventListener('change', () => (box.checked ? localStorage.removeItem(off) : localStorage.setItem(off, '1')));
}
