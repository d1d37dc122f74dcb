// Follows the subject of a page, and offers the new state: nothing is exchanged under its reader.
const bar = document.getElementById('live');
const follow = document.body.dataset.follow;

// The door is for those who come with a secret, or need one.
const knock = () => { if (/^#k=/.test(location.hash) || ['door', 'pair'].includes(document.body.dataset.screen)) import('./door.js'); };
knock();
addEventListener('hashchange', knock);
const titled = document.title.replace(/^\(\d+\)\s*/, '');
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

// The number of waiting runs stands in the title and in the header.
const channel = new BroadcastChannel('bmad-waiting');
const figure = document.getElementById('waiting');
let waiting = Number(figure?.textContent ?? 0);
function count(now) {
  document.title = (now.waiting ? `(${now.waiting}) ` : '') + titled;
  if (figure) { figure.textContent = now.waiting; figure.hidden = !now.waiting; }
  if (document.hidden && now.listens && now.waiting > waiting) notify(now.project);
  waiting = now.waiting;
}
channel.addEventListener('message', (event) => count(event.data));

function changed(event) {
  const now = JSON.parse(event.data);
  if (document.hidden) channel.postMessage({ waiting: now.waiting });
  count({ ...now, listens: true });
  document.dispatchEvent(new CustomEvent('state', { detail: now }));
  if (follow === 'waits' || document.hidden || 'decided' in document.body.dataset) return; // a decision on the page is no news to its person
  first ??= now.print;
  if (now.print !== first) say(bar.dataset.changed, () => location.reload(), bar.dataset.show);
  else bar.replaceChildren();
}

// A browser lets few streams be open at once. A page in view has one; of the hidden ones, one listens for all.
let source, leave;
function listen(subject) {
  source = new EventSource('/events?follow=' + encodeURIComponent(subject));
  source.addEventListener('changed', changed);
  source.addEventListener('error', () => say(bar.dataset.lost));
}
function watch() {
  leave?.();
  source?.close();
  if (!document.hidden) { leave = null; listen(follow); return; }
  const turn = new AbortController();
  leave = () => turn.abort();
  navigator.locks?.request('bmad-hidden', { signal: turn.signal }, () => new Promise((end) => { leave = end; listen('waits'); })).catch(() => {});
}
if (document.body.dataset.screen !== 'door') {
  watch();
  document.addEventListener('visibilitychange', watch);
}

// Notifications name the project at most. They are switched on by the person, and come from hidden pages only.
const asks = document.getElementById('notify');
const wanted = 'bmad-notify';
const notifies = () => globalThis.Notification?.permission === 'granted' && !!localStorage.getItem(wanted);
function notify(project) {
  if (!notifies()) return;
  const shown = new Notification(bar.dataset.waits, { body: project, tag: wanted });
  shown.addEventListener('click', () => { window.focus(); shown.close(); });
}
if (asks && 'Notification' in globalThis) {
  const label = asks.querySelector('span');
  const show = () => { label.textContent = notifies() ? asks.dataset.on : asks.dataset.off; };
  asks.hidden = false;
  show();
  asks.querySelector('button').addEventListener('click', async () => {
    if (notifies()) localStorage.removeItem(wanted);
    else if (await Notification.requestPermission() === 'granted') localStorage.setItem(wanted, '1');
    else { label.textContent = asks.dataset.denied; return; }
    show();
  });
}

// A command goes to the clipboard.
for (const button of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector('code').textContent);
    button.querySelector('span').textContent = button.dataset.copied;
  });
}

const refused = sessionStorage.getItem('bmad-refused');
if (refused) {
  say(refused);
  sessionStorage.removeItem('bmad-refused');
}

if (/[#&][kp]=/.test(location.hash)) import('./door.js');

// Times are those of the browser's own zone, also in what the server answers.
export const local = (text) => text.replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, (at) => new Date(at).toLocaleString(document.documentElement.lang, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' }));
for (const time of document.querySelectorAll('time[datetime]')) {
  if (time.dataset.age) time.title = local(time.dateTime);
  else time.textContent = local(time.dateTime);
}

// Ages go on with the page, from those that the server gave.
const forms = document.body.dataset.ages.split('|');
function age() {
  for (const time of document.querySelectorAll('[data-age]')) {
    const minutes = Math.floor((Number(time.dataset.age) + performance.now() / 1000) / 60);
    const at = [1, 60, 1440].filter((limit) => minutes >= limit).length;
    time.textContent = forms[at].replace('{}', Math.floor(minutes / [1, 1, 60, 1440][at]));
  }
}
setInterval(age, 60_000);

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
