// Comments on a document, and the decision on it. What a person types is kept until it is sent.
import { focus, keys, local, say } from './live.js';
import { Words } from './words.js';

const paper = document.getElementById('paper');
const margin = document.getElementById('margin');
const form = document.getElementById('review');
const encoder = new TextEncoder();
const given = (id) => document.getElementById(id)?.textContent ?? '';
const source = JSON.parse(given('source') || '""').split('\n');
const unpaired = document.getElementById('unpaired');
const blocks = paper ? [...paper.querySelectorAll('[data-l]')].filter((b) => !b.querySelector('[data-l]')) : [];
const lines = (block) => block.dataset.l.split('-').map(Number);
const template = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);
const fill = (root, name, text) => { const place = root.querySelector(`[data-${name}]`); if (place) place.textContent = text; return place; };
const wide = () => matchMedia('(min-width: 60rem)').matches && paper.dataset.view !== 'split';
const key = () => localStorage.getItem('bmad-key');
const pairing = `/pair?back=${encodeURIComponent(location.pathname + location.search)}`;
let at = -1; // the block of the button, which follows the focus and the pointer
let fresh = null; // the editor into which nothing was typed yet

function post(href, body, more) {
  const headers = { 'Content-Type': 'application/json', ...more?.headers };
  if (key()) headers.Authorization = `Bearer ${key()}`;
  return fetch(href, { method: 'POST', ...more, headers, body }).catch(() => null);
}

async function keepThere(words, version, leaving) {
  const answer = await post(paper.dataset.drafts, words, { keepalive: !!leaving, headers: { 'If-Match': version } });
  if (answer?.status === 401 && unpaired) unpaired.hidden = false;
  return answer;
}

const words = paper?.dataset.drafts && new Words(paper.dataset.drafts, { post: keepThere, version: paper.dataset.version, given: given('draft'), changed: () => form && show(), lost: () => say(form?.dataset.unsaved ?? '') });

function clip(text, most) {
  let out = '';
  for (const c of text.replace(/\s+/g, ' ').trim()) {
    if (encoder.encode(out + c).length > most) break;
    out += c;
  }
  return out;
}

// What a person reads of a block, the cells of a row apart.
function textOf(block) {
  const copy = block.cloneNode(true);
  copy.querySelectorAll('form, button').forEach((e) => e.remove());
  return copy.cells ? [...copy.cells].map((cell) => cell.textContent.trim()).join(' | ') : copy.textContent;
}

// The block of a line, or the last one before it.
function blockOf(line) {
  let found = null;
  for (const block of blocks) if (lines(block)[0] <= line) found = block;
  return line > 0 ? found : null;
}

// The block that keys act on: a resting pointer does not move it.
const here = () => (blocks.includes(document.activeElement) ? blocks.indexOf(document.activeElement) : at);

function go(by) {
  if (!blocks.length) return;
  const block = blocks[Math.max(0, Math.min(blocks.length - 1, here() + by))];
  block.focus({ preventScroll: true });
  block.scrollIntoView({ block: 'nearest' });
}

// Moves to the next note of the margin, or back.
function nextNote(by) {
  const notes = [...margin.querySelectorAll('.note')];
  if (!notes.length) return;
  const note = notes[(notes.indexOf(document.activeElement.closest?.('.note')) + by + notes.length) % notes.length];
  note.tabIndex = -1;
  note.focus();
  blockOf(Number(note.dataset.line))?.scrollIntoView({ block: 'nearest' });
}

// Puts an element below a block: into it, where only it can hold one, or into a row of its own.
function putBy(block, element) {
  if (block.matches('li, td')) block.append(element);
  else if (block.cells) {
    const row = document.createElement('tr');
    row.className = 'holds';
    const cell = row.insertCell();
    cell.colSpan = block.cells.length;
    cell.append(element);
    block.after(row);
  } else block.after(element);
}

const adder = form && document.getElementById('adder');
function placeAdder(block) {
  if (!adder || document.activeElement === adder) return;
  at = blocks.indexOf(block);
  if (block.cells) block.cells[block.cells.length - 1].append(adder);
  else putBy(block, adder);
  adder.hidden = false;
  adder.style.top = `${block.getBoundingClientRect().top - paper.getBoundingClientRect().top}px`;
}

// Puts the notes beside their blocks, where there is a margin; else they stand in a list. The
// person's own come first, then those on a line; those on the whole document fill the room between.
function layout() {
  const notes = [...margin.querySelectorAll('.note')];
  margin.classList.toggle('placed', wide());
  if (!wide()) { margin.style.minHeight = ''; return; }
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

// Comments are items of the words; an open one stands in its editor.
const comments = () => words.keys((item) => item.comment);
const wordsOf = (c) => (c.kind === 'edit' ? `${c.text ?? ''}\n→ ${c.replace}`.trim() : c.text ?? '');

function show() {
  margin.querySelectorAll('.note.own:not(.editor)').forEach((note) => note.remove());
  for (const box of document.querySelectorAll('.editor[data-key]:not([data-key=""], :focus-within)')) if (!words.get(box.dataset.key)?.open) box.remove(); // it was closed elsewhere
  for (const k of comments()) {
    const { comment: c } = words.get(k);
    if (document.querySelector(`.editor[data-key="${k}"]`)) continue;
    const note = template('own-note');
    note.dataset.line = c.from ?? 0;
    fill(note, 'place', !c.from ? note.dataset.whole : c.from === c.to ? note.dataset.lineOf.replace('{}', c.from) : note.dataset.lines.replace('{}', `${c.from}–${c.to}`));
    fill(note, 'kind', form.querySelector(`#kinds option[value="${c.kind}"]`)?.textContent ?? c.kind);
    fill(note, 'quote', c.quote ?? '');
    fill(note, 'text', wordsOf(c));
    note.querySelector('[data-edit]').addEventListener('click', () => edit(blockOf(c.from), { c, keys: [k], was: c }).focus());
    note.querySelector('[data-drop]').addEventListener('click', () => { words.drop([k]); show(); (blockOf(c.from) ?? document.getElementById('whole')).focus(); });
    margin.append(note);
  }
  count();
}

function count() {
  document.querySelectorAll('[data-comments]').forEach((n) => { n.textContent = comments().length; });
  layout();
}

function fits(field) {
  const over = encoder.encode(field.value).length - 500;
  field.setCustomValidity(over > 0 ? form.dataset.long : '');
  return over <= 0;
}

// Opens the editor for a comment on a block, or on the whole document. What is typed into it is a
// comment at once, and is sent with the decision like one that was added.
function edit(block, { c: old, keys: held = [], was, quoted, again } = {}) {
  const box = template('comment-form');
  box.dataset.key = held[0] ?? '';
  fresh?.remove();
  fresh = again ? null : box;
  const [from, to] = old ? [old.from ?? 0, old.to ?? 0] : block ? lines(block) : [0, 0];
  const [kind, text, replace] = ['kind', 'text', 'replace'].map((name) => box.elements[name]);
  const before = source.slice(from - 1, to).join('\n');
  const quote = old?.quote ?? quoted ?? (block ? clip(textOf(block), 200) : '');
  kind.append(...[...form.querySelectorAll('#kinds option')].map((o) => o.cloneNode(true)));
  box.dataset.line = from;
  fill(box, 'quote', quote);
  kind.value = old?.kind ?? 'change';
  text.value = old?.text ?? '';
  replace.value = old?.replace ?? (from ? before : '');
  const comment = () => {
    const c = { from, to, quote, kind: kind.value };
    if (text.value.trim()) c.text = text.value.trim();
    if (kind.value === 'edit') c.replace = replace.value;
    return c;
  };
  const says = () => text.value.trim() || kind.value === 'remove' || (kind.value === 'edit' && replace.value !== before);
  const keep = () => {
    if (says()) held = [words.put({ comment: comment(), open: was ?? true }, held)];
    else { words.drop(held); held = []; }
    box.dataset.key = held[0] ?? '';
    if (held.length && fresh === box) fresh = null;
    count();
  };
  const shape = () => { box.querySelector('[data-replace]').hidden = kind.value !== 'edit'; layout(); };
  const leave = () => (block ?? document.getElementById('whole')).focus();
  const close = () => { box.remove(); show(); leave(); };
  box.addEventListener('input', () => { [text, replace].forEach((field) => field.setCustomValidity('')); shape(); keep(); });
  box.addEventListener('submit', (e) => {
    e.preventDefault();
    if (!fits(text) || !fits(replace)) { box.reportValidity(); return; }
    if (!says()) { text.focus(); return; }
    words.put({ comment: comment() }, held);
    close();
  });
  box.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') { if (says()) leave(); else close(); }
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); box.requestSubmit(); }
  });
  box.querySelector('[data-cancel]').addEventListener('click', () => {
    if (was) words.put({ comment: was }, held);
    else words.drop(held);
    close();
  });
  if (wide() || !block) margin.append(box);
  else putBy(block, box);
  if (old && !again) keep(); // it came with words
  show();
  shape();
  return text;
}

// Comments on a block, with the selected words if some are selected in it.
function comment(place) {
  if (!form) return;
  const selection = getSelection();
  const chosen = !selection.isCollapsed && selection.anchorNode?.parentElement?.closest('[data-l]');
  const block = blocks.includes(chosen) ? chosen : blocks[place];
  const field = edit(block ?? null, { quoted: block && block === chosen ? clip(selection.toString(), 200) : undefined });
  field.focus();
  field.scrollIntoView({ block: 'nearest' });
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

if (paper) {
  addEventListener('resize', layout);
  addEventListener('load', layout);
  for (const block of blocks) {
    block.tabIndex = form ? 0 : -1;
    block.addEventListener('focus', () => { at = blocks.indexOf(block); placeAdder(block); });
    block.addEventListener('keydown', (e) => { if (e.key === 'Enter' && e.target === block) { e.preventDefault(); comment(here()); } });
  }
  layout();
}

const visit = (id) => document.getElementById(id)?.click();
Object.assign(keys, {
  j: () => go(1), k: () => go(-1), n: () => nextNote(1), p: () => nextNote(-1),
  c: () => comment(here()), d: () => visit('to-diff'), v: () => visit('to-next-view'),
  a: () => focus('[data-decision=approve], [data-decision=override]'), x: () => focus('[data-decision=request_changes]'),
});

// The decision: sent with the comments as one act, by a browser that was paired.
const result = document.getElementById('result');

function told(message, hint, link) {
  const said = [message, hint].filter(Boolean).map((text) => { const p = document.createElement('p'); p.textContent = local(text); return p; });
  if (link) { const a = document.createElement('a'); a.href = link.href; a.textContent = link.text; said.push(a); }
  result.replaceChildren(...said);
  result.focus();
}

async function decide(button) {
  const d = button.dataset;
  const long = [...document.querySelectorAll('.editor')].find((box) => !fits(box.elements.text) || !fits(box.elements.replace));
  if (long) { long.reportValidity(); return; }
  const body = { decision: d.decision, revision: Number(form.dataset.revision), sha256: form.dataset.sha256, nonce: form.dataset.nonce };
  const shown = words.shot(), sent = comments().map((k) => words.get(k).comment), feedback = form.elements.feedback.value;
  if (feedback) body.feedback = feedback;
  if (sent.length) body.comments = sent;
  if (d.decision === 'answer') {
    body.answers = Object.fromEntries([...form.querySelectorAll('[data-question]')].map((field) => [field.dataset.question, field.value]));
    body.skip_rest = form.elements.skip_rest.checked;
  }
  if (d.needs && !feedback.trim() && !sent.length) { told(d.needs); focus('#feedback'); return; }
  form.querySelectorAll('button').forEach((b) => { b.disabled = true; });
  try {
    await words.save();
    if (form.elements.sign?.checked) {
      const { sign, usable } = await import('./passkey.js');
      if (usable) body.passkey = await sign(form.dataset.sign, body);
    }
    const answer = await send(form.dataset.decide, body);
    await words.sent(shown);
    document.querySelectorAll('.editor').forEach((box) => box.remove());
    told(answer.message, form.dataset.goeson, { href: form.dataset.run, text: form.dataset.torun });
    form.classList.add('over');
  } catch (problem) {
    told(problem instanceof DOMException ? form.dataset.stopped : problem.message, problem.hint, problem.pair ? { href: pairing, text: form.dataset.pair } : problem.late ? { href: form.dataset.run, text: form.dataset.torun } : null);
    form.querySelectorAll('button').forEach((b) => { b.disabled = false; });
  }
}

async function send(href, body) {
  const answer = await post(href, JSON.stringify(body));
  if (!answer) throw { message: form.dataset.unreachable };
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw { message: said.error ?? answer.statusText, hint: said.hint, pair: answer.status === 401, late: answer.status === 409 };
  return said;
}

if (form) {
  adder.addEventListener('click', () => comment(at));
  document.getElementById('whole').addEventListener('click', () => edit(null).focus());
  paper.addEventListener('pointerover', (e) => {
    const block = e.target.closest('[data-l]');
    if (blocks.includes(block)) placeAdder(block);
  });
  for (const button of margin.querySelectorAll('[data-adopt]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const note = button.closest('.note'), line = Number(note.dataset.line);
      edit(blockOf(line), { c: { from: line, to: line, kind: 'change', quote: '', text: clip(note.querySelector('[data-problem]').textContent, 480) } }).focus();
    });
  }
  words.fields(form.querySelectorAll('textarea'));
  for (const k of comments()) {
    const { comment: c, open } = words.get(k);
    if (open) edit(blockOf(c.from), { c, keys: [k], was: open === true ? undefined : open, again: true });
  }
  for (const option of form.querySelectorAll('[data-option]')) {
    option.addEventListener('click', () => {
      const field = form.querySelector(`[data-question="${CSS.escape(option.dataset.option)}"]`);
      const own = field.value.trim() && ![...form.querySelectorAll(`[data-option="${CSS.escape(option.dataset.option)}"]`)].some((o) => o.textContent === field.value);
      field.value = own ? `${field.value}\n${option.textContent}` : option.textContent;
      field.dispatchEvent(new Event('input'));
      field.focus();
    });
  }
  for (const button of form.querySelectorAll('[data-decision]')) button.addEventListener('click', () => decide(button));
  form.addEventListener('submit', (e) => e.preventDefault());
  form.hidden = false;
  unpaired.querySelector('a').href = pairing;
  unpaired.hidden = !!key();
  show();
} else if (words?.shown.size) { // nothing can be decided here any more: the person can take the words elsewhere
  const unsent = document.getElementById('unsent');
  for (const k of words.shown) {
    const item = words.get(k), text = document.createElement('p');
    text.className = 'prose';
    text.textContent = item.comment ? [item.comment.quote && `“${item.comment.quote}”`, wordsOf(item.comment)].filter(Boolean).join(' ') : item.text;
    unsent.querySelector('button').before(text);
  }
  unsent.querySelector('button').addEventListener('click', () => { words.drop([...words.shown]); unsent.hidden = true; });
  unsent.hidden = false;
}
