// Shows a run at work as it goes on, and starts, stops, resumes and leaves runs on the person's word.
import { local } from './live.js';

const zone = document.documentElement.lang;
const work = document.getElementById('work');

// Times within a day, under a heading with the day, both of the browser's zone.
const clockOf = (at, timeStyle) => new Date(at).toLocaleTimeString(zone, { timeStyle, hourCycle: 'h23' });
for (const time of document.querySelectorAll('time.clock')) time.textContent = clockOf(time.dateTime, time.closest('.log') ? 'medium' : 'short');
let before = '';
for (const day of document.querySelectorAll('time.day')) {
  const first = day.closest('li').querySelector('time.clock');
  const text = new Date((first ?? day).dateTime).toLocaleDateString(zone, { dateStyle: 'medium' });
  day.textContent = text === before ? '' : text;
  before = text;
}

function tell(at, texts, pair) {
  at.replaceChildren(...texts.filter(Boolean).map((text) => { const p = document.createElement('p'); p.textContent = local(text); return p; }));
  if (pair) {
    const link = document.createElement('a');
    link.href = `/pair?back=${encodeURIComponent(location.pathname)}`;
    link.textContent = pair;
    at.append(link);
  }
  at.focus();
}

// Sends what the person wants with the key of the pairing, which the browser gives to no other origin.
async function send(form, at, body) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${localStorage.getItem('bmad-key') ?? ''}` };
  const answer = await fetch(form.dataset.href, { method: 'POST', headers, body: JSON.stringify({ ...body, nonce: form.dataset.nonce }) }).catch(() => null);
  const said = await answer?.json().catch(() => ({})) ?? {};
  if (answer?.ok) return said;
  tell(at, answer ? [said.error, said.hint] : [form.dataset.unreachable], answer?.status === 401 && form.dataset.pair);
  return null;
}

// A button is pressed twice for what cannot be taken back.
let sure = '';
function isSure(form, at, act) {
  if (sure === act) return true;
  sure = act;
  tell(at, [form.dataset.sure]);
  return false;
}

const leaves = document.getElementById('leaves');
if (leaves) {
  const left = document.getElementById('left');
  const words = new Words(leaves.dataset.href);
  words.fields(leaves.querySelectorAll('textarea'));
  document.getElementById('leave').open ||= !!leaves.elements.feedback.value;
  leaves.hidden = false;
  for (const button of leaves.querySelectorAll('[data-decision]')) {
    button.addEventListener('click', async () => {
      const { decision } = button.dataset;
      const feedback = leaves.elements.feedback.value.trim();
      if (decision === 'reopen' && !feedback) { tell(left, [leaves.dataset.needs]); leaves.elements.feedback.focus(); return; }
      if (decision === 'cancel' && !isSure(leaves, left, decision)) return;
      const body = { decision, feedback, revision: Number(leaves.dataset.revision) };
      if (decision === 'reopen') body.stage = leaves.elements.stage.value;
      if (await send(leaves, left, body)) { words.sent(); location.reload(); }
    });
  }
}

for (const form of document.querySelectorAll('#steers, #begins')) {
  const at = form.querySelector('.answer');
  const button = form.querySelector('[data-act]');
  const { act } = button.dataset;
  const chosen = document.querySelector('select[name=p]'); // the project that is seen, also before it is shown
  const words = act === 'start' && new Words(form.dataset.href);
  if (words) words.fields(form.querySelectorAll('textarea'));
  form.hidden = false;
  form.addEventListener('submit', (e) => e.preventDefault());
  button.addEventListener('click', async () => {
    if (act === 'stop' && !isSure(form, at, act)) return;
    button.disabled = true;
    if (form.dataset.begins) tell(at, [form.dataset.begins]);
    const body = Object.fromEntries([...form.elements].filter((field) => field.name).map((field) => [field.name, field.value.trim()]));
    const said = await send(form, at, act === 'start' ? { ...body, project: chosen?.value ?? form.dataset.project } : { ...body, act });
    button.disabled = !!said;
    if (said && act === 'stop') tell(at, [form.dataset.asked]);
    else if (said) { if (words) words.sent(); location.href = said.href; }
  });
}

// The box of a run at work: words of the server, put where those before stood. What concerns the stages needs the
// page anew, unless its reader is at something.
function show(now) {
  document.getElementById('doing').textContent = now.doing;
  for (const place of work.querySelectorAll('[data-live]')) place.textContent = now[place.dataset.live];
  const meter = work.querySelector('progress');
  if (meter) meter.value = now.percent;
  work.querySelector('.log').replaceChildren(...(now.log ?? []).map((line) => {
    const item = document.createElement('li');
    item.textContent = `${clockOf(line.at, 'medium')} ${line.text}`;
    return item;
  }));
}

const isWorking = !!work?.hasAttribute('data-working');
const isIdle = () => {
  const at = document.activeElement;
  return (!at || at === document.body || at.id === 'main' || work?.contains(at)) && !leaves?.elements.feedback.value;
};

// A run is told by the size of its events, which a run of an assistant does not have.
async function refresh(event) {
  if (!isWorking && !event?.detail.work) return;
  const moved = isWorking && event && event.detail.print !== document.body.dataset.print;
  const answer = await fetch(`${location.pathname}live`).catch(() => null);
  const now = answer?.ok ? await answer.json() : null;
  if (now?.working && isWorking) show(now);
  const turned = now && now.working !== isWorking;
  if ((turned || moved) && isIdle()) location.reload();
  else if (turned && work) document.getElementById('doing').textContent = now.doing;
}

if (document.body.dataset.screen === 'run') document.addEventListener('state', refresh);
if (isWorking) setInterval(() => { if (!document.hidden) refresh(); }, 15000); // a process that was killed tells nobody
