// Comments on a document: written in the margin, kept until they are sent: by the server for a
// browser that may decide, else by the browser.
import { focus, keys, say } from './live.js';

const paper = document.getElementById('paper');
const margin = document.getElementById('margin');
const form = document.getElementById('review');
const encoder = new TextEncoder();
export const state = { comments: [], feedback: '', answers: {} };
let at = -1; // the block that keys act on
let editing = null;

export const blocks = paper ? [...paper.querySelectorAll('[data-l]')].filter((b) => !b.querySelector('[data-l]')) : [];
const lines = (block) => block.dataset.l.split('-').map(Number);
export const template = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);
const fill = (root, name, text) => { const place = root.querySelector(`[data-${name}]`); if (place) place.textContent = text; return place; };

function clip(text, most) {
  let out = '';
  for (const c of text.replace(/\s+/g, ' ').trim()) {
    if (encoder.encode(out + c).length > most) break;
    out += c;
  }
  return out;
}

// The block of a line, or the last one before it.
function blockOf(line) {
  let found = null;
  for (const block of blocks) if (lines(block)[0] <= line) found = block;
  return line > 0 ? found : null;
}

export function go(to) {
  if (!blocks.length) return;
  blocks[at]?.classList.remove('at');
  at = Math.max(0, Math.min(blocks.length - 1, to));
  blocks[at].classList.add('at');
  blocks[at].scrollIntoView({ block: 'nearest' });
  placeAdder();
}
export const step = (by) => go(at + by);

// Moves to the next note of the margin, or back.
export function nextNote(by) {
  const notes = [...margin.querySelectorAll('.note')];
  if (!notes.length) return;
  const now = notes.indexOf(document.activeElement.closest?.('.note'));
  const note = notes[(now + by + notes.length) % notes.length];
  note.tabIndex = -1;
  note.focus();
  const block = blockOf(Number(note.dataset.line));
  if (block) go(blocks.indexOf(block));
}

let adder;
function placeAdder() {
  if (!adder || at < 0) return;
  adder.hidden = false;
  adder.style.top = `${blocks[at].offsetTop}px`;
}

// Puts the notes beside their blocks, where there is a margin; else they stand in a list. The
// person's own come first, then those on a line; those on the whole document fill the room between.
export function layout() {
  const notes = [...margin.querySelectorAll('.note')];
  const wide = matchMedia('(min-width: 60rem)').matches && paper.dataset.view !== 'split';
  margin.classList.toggle('placed', wide);
  if (!wide) { margin.style.minHeight = ''; return; }
  const place = (note) => {
    const block = blockOf(Number(note.dataset.line));
    return block ? block.getBoundingClientRect().top - paper.getBoundingClientRect().top : 0;
  };
  const rank = (note) => (note.matches('.own') ? 0 : Number(note.dataset.line) > 0 ? 1 : 2);
  const taken = [];
  let bottom = 0;
  for (const note of notes.sort((a, b) => rank(a) - rank(b) || place(a) - place(b))) {
    const height = note.offsetHeight + 8;
    let top = place(note);
    for (const other of taken) if (top < other.bottom && top + height > other.top) top = other.bottom;
    note.style.top = `${top}px`;
    taken.push({ top, bottom: top + height });
    taken.sort((a, b) => a.top - b.top);
    bottom = Math.max(bottom, top + height);
  }
  margin.style.minHeight = `${bottom}px`;
}

const key = () => localStorage.getItem('bmad-key');
let saving;
const own = `bmad-words:${form?.dataset.drafts}`;
export function keep() {
  clearTimeout(saving);
  saving = setTimeout(async () => {
    const words = JSON.stringify({ sha256: form.dataset.sha256, comments: state.comments, feedback: state.feedback, answers: state.answers });
    const answer = await post(form.dataset.drafts, words);
    if (answer?.ok) localStorage.removeItem(own);
    else if (answer?.status === 401) localStorage.setItem(own, words);
    else say(form.dataset.unsaved);
  }, 400);
}

function show() {
  margin.querySelectorAll('.note.own').forEach((note) => note.remove());
  for (const c of state.comments) {
    const note = template('own-note');
    note.dataset.line = c.from;
    fill(note, 'place', !c.from ? note.dataset.whole : c.from === c.to ? note.dataset.lineOf.replace('{}', c.from) : note.dataset.lines.replace('{}', `${c.from}–${c.to}`));
    fill(note, 'kind', form.querySelector(`#kinds option[value="${c.kind}"]`)?.textContent ?? c.kind);
    fill(note, 'quote', c.quote ?? '');
    fill(note, 'text', c.kind === 'edit' ? `${c.text ?? ''}\n→ ${c.replace}`.trim() : c.text ?? '');
    note.querySelector('[data-edit]').addEventListener('click', () => edit(blockOf(c.from), c));
    note.querySelector('[data-drop]').addEventListener('click', () => { state.comments = state.comments.filter((x) => x !== c); changed(); });
    margin.append(note);
  }
  document.querySelectorAll('[data-comments]').forEach((n) => { n.textContent = state.comments.length; });
  layout();
}

function changed() { show(); keep(); document.dispatchEvent(new Event('comments')); }

// Opens the editor for a comment on a block, or on the whole document.
export function edit(block, old, quoted) {
  editing?.remove();
  const box = template('comment-form');
  editing = box;
  const [from, to] = block ? lines(block) : [0, 0];
  const kind = box.querySelector('select'), text = box.querySelector('[name=text]'), replace = box.querySelector('[name=replace]');
  kind.append(...[...form.querySelectorAll('#kinds option')].map((o) => o.cloneNode(true)));
  box.dataset.line = old?.from ?? from;
  const words = old?.quote ?? quoted ?? (block ? clip(block.textContent, 200) : '');
  fill(box, 'quote', words);
  kind.value = old?.kind ?? 'change';
  text.value = old?.text ?? '';
  replace.value = old?.replace ?? (block ? block.textContent.trim() : '');
  const shape = () => { box.querySelector('[data-replace]').hidden = kind.value !== 'edit'; layout(); };
  kind.addEventListener('change', shape);
  const close = () => { box.remove(); editing = null; layout(); };
  const fits = (field) => {
    const over = encoder.encode(field.value).length - 500;
    field.setCustomValidity(over > 0 ? form.dataset.long : '');
    return over <= 0;
  };
  const add = () => {
    if (!fits(text) || !fits(replace)) { box.reportValidity(); return; }
    if (kind.value !== 'remove' && kind.value !== 'edit' && !text.value.trim()) { text.focus(); return; }
    const c = { from: old?.from ?? from, to: old?.to ?? to, quote: words, kind: kind.value };
    if (text.value.trim()) c.text = text.value.trim();
    if (kind.value === 'edit') c.replace = replace.value;
    if (state.comments.includes(old)) state.comments[state.comments.indexOf(old)] = c;
    else state.comments.push(c);
    close();
    changed();
  };
  box.addEventListener('submit', (e) => { e.preventDefault(); add(); });
  box.addEventListener('input', () => { text.setCustomValidity(''); replace.setCustomValidity(''); });
  box.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') close();
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); add(); }
  });
  box.querySelector('[data-cancel]').addEventListener('click', close);
  margin.append(box);
  shape();
  setTimeout(() => text.focus()); // the key that opened it is not a word of it
}

// Comments on the current block, with the selected words if some are selected in it.
export function comment() {
  if (!form) return;
  const selection = getSelection();
  const chosen = !selection.isCollapsed && selection.anchorNode?.parentElement?.closest('[data-l]');
  const block = chosen && blocks.includes(chosen) ? chosen : blocks[at];
  edit(block ?? null, null, chosen ? clip(selection.toString(), 200) : undefined);
}

for (const pre of paper?.dataset.draw ? paper.querySelectorAll('pre[data-diagram]') : []) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  button.textContent = paper.dataset.draw;
  button.addEventListener('click', async () => {
    button.remove();
    const { draw } = await import('./diagram.js');
    draw(pre.querySelector('code'), { title: paper.dataset.draw, undrawn: paper.dataset.undrawn });
  });
  pre.after(button);
}

if (paper && margin) {
  addEventListener('resize', layout);
  addEventListener('load', layout);
  layout();
}
if (form && paper) {
  const words = localStorage.getItem(own);
  if (words && key()) keep();
  Object.assign(state, JSON.parse(words ?? document.getElementById('draft').textContent) ?? {});
  state.comments ??= [];
  state.answers ??= {};
  adder = document.getElementById('adder');
  adder.addEventListener('click', comment);
  document.getElementById('whole').addEventListener('click', () => edit(null));
  paper.addEventListener('pointerover', (e) => {
    const block = e.target.closest('[data-l]');
    if (block && blocks.includes(block)) { at = blocks.indexOf(block); placeAdder(); }
  });
  for (const button of margin.querySelectorAll('[data-adopt]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const note = button.closest('.note');
      edit(blockOf(Number(note.dataset.line)), { from: Number(note.dataset.line), to: Number(note.dataset.line), kind: 'change', quote: '', text: clip(note.querySelector('[data-problem]').textContent, 480) });
    });
  }
  show();
}

const visit = (id) => document.getElementById(id)?.click();
Object.assign(keys, {
  j: () => step(1), k: () => step(-1), n: () => nextNote(1), p: () => nextNote(-1),
  c: comment, d: () => visit('to-diff'), v: () => visit('to-next-view'),
  a: () => focus('[data-decision=approve], [data-decision=override]'), x: () => focus('[data-decision=request_changes]'),
});

// The decision: sent with the comments as one act, by a browser that was paired.
const result = document.getElementById('result');
const pairing = `/pair?back=${encodeURIComponent(location.pathname + location.search)}`;

function told(message, hint, link) {
  const lines = [message, hint].filter(Boolean).map((text) => { const p = document.createElement('p'); p.textContent = text; return p; });
  if (link) { const a = document.createElement('a'); a.href = link.href; a.textContent = link.text; lines.push(a); }
  result.replaceChildren(...lines);
  result.focus();
}

async function decide(button) {
  const d = button.dataset;
  const body = { decision: d.decision, revision: Number(form.dataset.revision), sha256: form.dataset.sha256, nonce: form.dataset.nonce };
  if (state.feedback) body.feedback = state.feedback;
  if (state.comments.length) body.comments = state.comments;
  if (d.decision === 'answer') { body.answers = state.answers; body.skip_rest = form.elements.skip_rest.checked; }
  if (d.needs && !state.feedback.trim() && !state.comments.length) { told(d.needs); focus('#feedback'); return; }
  form.querySelectorAll('button').forEach((b) => { b.disabled = true; });
  try {
    if (form.elements.sign?.checked) {
      const { sign, usable } = await import('./passkey.js');
      if (usable) body.passkey = await sign(form.dataset.sign, body);
    }
    const answer = await send(form.dataset.decide, body);
    told(answer.message, form.dataset.goeson, { href: form.dataset.run, text: form.dataset.torun });
    form.classList.add('over');
    clearTimeout(saving);
    localStorage.removeItem(own);
  } catch (problem) {
    told(problem instanceof DOMException ? form.dataset.stopped : problem.message, problem.hint, problem.pair ? { href: pairing, text: form.dataset.pair } : problem.late ? { href: form.dataset.run, text: form.dataset.torun } : null);
    form.querySelectorAll('button').forEach((b) => { b.disabled = false; });
  }
}

function post(href, body) {
  const headers = { 'Content-Type': 'application/json' };
  if (key()) headers.Authorization = `Bearer ${key()}`;
  return fetch(href, { method: 'POST', headers, body }).catch(() => null);
}

async function send(href, body) {
  const answer = await post(href, JSON.stringify(body));
  if (!answer) throw { message: form.dataset.unreachable };
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw { message: said.error ?? answer.statusText, hint: said.hint, pair: answer.status === 401, late: answer.status === 409 };
  return said;
}

if (form) {
  const feedback = form.elements.feedback;
  feedback.value = state.feedback ?? '';
  feedback.addEventListener('input', () => { state.feedback = feedback.value; keep(); });
  for (const field of form.querySelectorAll('[data-question]')) {
    field.value = state.answers?.[field.dataset.question] ?? '';
    field.addEventListener('input', () => { state.answers[field.dataset.question] = field.value; keep(); });
  }
  for (const option of form.querySelectorAll('[data-option]')) {
    option.addEventListener('click', () => {
      const field = form.querySelector(`[data-question="${CSS.escape(option.dataset.option)}"]`);
      field.value = option.textContent;
      field.dispatchEvent(new Event('input'));
      field.focus();
    });
  }
  for (const button of form.querySelectorAll('[data-decision]')) button.addEventListener('click', () => decide(button));
  form.addEventListener('submit', (e) => e.preventDefault());
  form.hidden = false;
  const unpaired = document.getElementById('unpaired');
  unpaired.querySelector('a').href = pairing;
  unpaired.hidden = !!key();
}
