// A document under review: its outline, the comments on it, and the decision. What a person types is kept until it is sent.
import { focus, keys, local, say } from './live.js';

const paper = document.getElementById('paper');
const form = document.getElementById('review');
const outline = document.getElementById('outline');
const toolbar = document.getElementById('toolbar');
const adder = document.getElementById('adder');
const encoder = new TextEncoder();
const given = (id) => document.getElementById(id)?.textContent ?? '';
const unpaired = document.getElementById('unpaired');
const template = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);
const fill = (root, name, text) => { const place = root.querySelector(`[data-${name}]`); if (place) place.textContent = text; return place; };
const wide = () => matchMedia('(min-width: 62rem)').matches;
const key = () => localStorage.getItem('bmad-key');
const pairing = `/pair?back=${encodeURIComponent(location.pathname + location.search)}`;
let blocks = [];
let starts = new Map(); // of each file, or of the document, the first lines of the blocks
let at = -1; // the block of the button, which follows the focus and the pointer
let fresh = null; // the editor into which nothing was typed yet

// The blocks that a comment can be about: rows, items, paragraphs, lines of code.
const lines = (block) => block.dataset.l.split('-').map(Number);
const fileOf = (block) => block?.closest('[data-file]')?.dataset.file;
function findBlocks() {
  blocks = [...paper.querySelectorAll('[data-l]')].filter((b) => !b.querySelector('[data-l]') && !b.closest('[hidden]'));
  starts = new Map();
  for (const block of blocks) {
    const file = fileOf(block);
    if (!starts.has(file)) starts.set(file, []);
    starts.get(file).push([lines(block)[0], block]);
  }
  for (const block of blocks) if (!block.hasAttribute('tabindex')) block.tabIndex = form ? 0 : -1;
  fitBoxes();
}

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
  copy.querySelectorAll('form, button, .notes').forEach((e) => e.remove());
  return copy.cells ? [...copy.cells].map((cell) => cell.textContent.trim()).join(' | ') : copy.textContent;
}

// The block of a line, or the last one before it.
function blockOf(line, file) {
  return line > 0 ? starts.get(file)?.findLast(([from]) => from <= line)?.[1] ?? null : null;
}

// The block that keys act on: a resting pointer does not move it.
const here = () => (blocks.includes(document.activeElement) ? blocks.indexOf(document.activeElement) : at);

function go(by) {
  if (!blocks.length) return;
  const block = blocks[Math.max(0, Math.min(blocks.length - 1, here() + by))];
  block.focus({ preventScroll: true });
  block.scrollIntoView({ block: 'nearest', behavior: 'instant' });
}

// Moves to the next note or change, or back, and opens the fold around it.
function nextNote(by) {
  const all = [...paper.querySelectorAll('.note, .b.changed, .diff .added, .diff .changed')].filter((e) => !e.closest('[hidden]'));
  if (!all.length) return;
  const from = paper.contains(document.activeElement) ? document.activeElement : blocks[at];
  const isPast = (e) => e.compareDocumentPosition(from) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY);
  const last = from ? all.findLastIndex((e) => e === from || isPast(e)) : -1;
  const stays = last >= 0 && all[last] !== from && !all[last].contains(from); // it is before the place
  const next = all[(last + by + (by < 0 && (stays || last < 0)) + all.length) % all.length];
  for (let fold = next.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'center' });
}

// The notes of a block stand first in its wrapper; those of a compared line in a row of their own.
function notesOf(block) {
  if (!block) return document.querySelector('.meta > .notes');
  const row = block.closest('.diff tr');
  if (row) {
    let next = row.nextElementSibling;
    if (!next?.matches('.said')) {
      next = document.createElement('tr');
      next.className = 'said';
      next.insertCell().colSpan = row.cells.length;
      row.after(next);
    }
    return notesIn(next.cells[0]);
  }
  return notesIn(block.closest('.b, .source > li') ?? block);
}

function notesIn(wrapper) {
  let notes = wrapper.querySelector(':scope > .notes');
  if (!notes) {
    notes = document.createElement('div');
    notes.className = 'notes';
    wrapper.prepend(notes);
  }
  return notes;
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

// An editor opens beside its block, and on a narrow page below it.
function placeEditor(block, box) {
  if (block && !wide() && !block.closest('.diff')) { putBy(block, box); return; }
  notesOf(block).append(box);
  const lower = block && !block.closest('.diff') ? block.getBoundingClientRect().top - box.getBoundingClientRect().top : 0;
  if (lower > 0) box.style.marginTop = `${lower}px`;
}

function closeEditor(box) {
  const holder = box.closest('.holds');
  const notes = box.closest('.notes');
  box.remove();
  holder?.remove();
  tidy(notes);
}

function tidy(notes) {
  if (!notes || notes.children.length || notes.closest('.meta')) return;
  (notes.closest('.said') ?? notes).remove();
}

function placeAdder(block) {
  if (!adder || document.activeElement === adder) return;
  at = blocks.indexOf(block);
  if (block.cells) block.cells[block.cells.length - 1].append(adder);
  else if (!block.matches('li, td')) block.after(adder);
  else block.append(adder);
  adder.hidden = false;
  adder.style.top = `${block.getBoundingClientRect().top - (block.closest('.b, td, .source > li') ?? paper).getBoundingClientRect().top}px`;
}

// Comments are items of the words; an open one stands in its editor.
const shownNotes = new Map(); // of each comment, its note with the item that it shows
const comments = () => words.keys((item) => item.comment);
const wordsOf = (c) => (c.kind === 'edit' ? `${c.text ?? ''}\n→ ${c.replace}`.trim() : c.text ?? '');
const sentOf = ({ comment: c, pictures = [] }) => (pictures.length ? { ...c, text: [c.text, ...pictures.map(pictureLine)].filter(Boolean).join('\n') } : c);
const pictureLine = (p) => `${form.dataset.picture}: ${p.path}`;
const pictures = () => paper.dataset.drafts.replace(/drafts$/, 'pictures');
const labelOf = (kind) => document.getElementById('comment-form').content.querySelector(`[value="${kind}"] + span`)?.textContent ?? kind;

// Shows the comments. A note that stands there as it was kept stays.
function show() {
  const kept = new Set();
  for (const box of document.querySelectorAll('.editor[data-key]:not([data-key=""], :focus-within)')) if (!words.get(box.dataset.key)?.open) closeEditor(box); // it was closed elsewhere
  for (const k of comments()) {
    const item = words.get(k), { comment: c, pictures: held } = item;
    if (document.querySelector(`.editor[data-key="${k}"]`)) continue;
    if (shownNotes.get(k)?.item === item && shownNotes.get(k).note.isConnected) { kept.add(k); continue; }
    const note = template('own-note'), block = blockOf(c.from, c.file);
    note.dataset.line = c.from ?? 0;
    fill(note, 'place', !c.from ? note.dataset.whole : c.from === c.to ? note.dataset.lineOf.replace('{}', c.from) : note.dataset.lines.replace('{}', `${c.from}–${c.to}`));
    fill(note, 'kind', labelOf(c.kind));
    fill(note, 'quote', c.quote ?? '');
    fill(note, 'text', wordsOf(c));
    showPictures(note, held);
    note.querySelector('[data-edit]').addEventListener('click', () => edit(blockOf(c.from, c.file), { c, keys: [k], was: c, held }).focus());
    note.querySelector('[data-drop]').addEventListener('click', () => { words.drop([k]); show(); (blockOf(c.from, c.file) ?? document.getElementById('whole')).focus(); });
    shownNotes.get(k)?.note.remove();
    notesOf(block).append(note);
    shownNotes.set(k, { item, note });
    kept.add(k);
  }
  for (const [k, { note }] of shownNotes) {
    if (kept.has(k)) continue;
    const holder = note.parentElement;
    note.remove();
    tidy(holder);
    shownNotes.delete(k);
  }
  count();
}

function count() {
  document.querySelectorAll('[data-comments]').forEach((n) => { n.textContent = comments().length; });
  showQuotes();
  for (const s of paper.querySelectorAll('.s')) {
    const marks = outline.querySelector(`a[href="#${s.id}"] .marks`);
    if (!marks) continue;
    const own = s.querySelectorAll('.note.own').length, good = s.querySelector('.ok[aria-pressed=true]');
    const says = `${good ? '✓ ' : ''}${own || ''}`;
    let mark = marks.querySelector('.own');
    if (says === (mark?.textContent ?? '')) continue;
    if (!mark) {
      mark = document.createElement('span');
      mark.className = 'own mine';
      marks.append(mark);
    }
    mark.replaceChildren(good ? '✓ ' : '', ...(own ? [document.querySelector('#whole .icon').cloneNode(true), `${own}`] : []));
    mark.title = [good?.textContent.trim(), own && outline.dataset.own].filter(Boolean).join(', ');
  }
}

// Marks the quoted words in the text, where the browser can do that without a new element.
function showQuotes() {
  if (!window.Highlight || !CSS.highlights) return;
  const ranges = [];
  for (const k of comments()) {
    const { comment: c } = words.get(k), block = blockOf(c.from, c.file);
    const walker = block && c.quote && document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let node; walker && (node = walker.nextNode());) {
      const from = node.data.indexOf(c.quote);
      if (from < 0) continue;
      const range = new Range();
      range.setStart(node, from);
      range.setEnd(node, from + c.quote.length);
      ranges.push(range);
      break;
    }
  }
  CSS.highlights.set('quoted', new Highlight(...ranges));
}

// Shows the pictures of a comment, which an editor can remove.
function showPictures(note, all = [], remove) {
  note.querySelector('[data-shots]').replaceChildren(...all.map((p) => {
    const shot = document.createElement(remove ? 'button' : 'span'), picture = document.createElement('img');
    picture.src = `${pictures()}/${p.name}`;
    picture.alt = p.name;
    shot.append(picture);
    if (remove) {
      Object.assign(shot, { type: 'button', title: form.dataset.removes });
      shot.setAttribute('aria-label', `${form.dataset.removes}: ${p.name}`);
      shot.addEventListener('click', () => remove(p));
    }
    return shot;
  }));
}

async function keepPicture(file) {
  const answer = await post(pictures(), file, { headers: { 'Content-Type': file.type } });
  const said = await answer?.json().catch(() => null);
  if (answer?.ok && said) return said;
  say(`${form.dataset.unkept} ${said?.error ?? form.dataset.unreachable}`);
  return null;
}

function fits(field) {
  const over = encoder.encode(field.value + (field.name === 'text' ? field.form.dataset.adds ?? '' : '')).length - 500;
  field.setCustomValidity(over > 0 ? form.dataset.long : '');
  return over <= 0;
}

// The lines of the document's source, which a replacement begins with.
let source;
async function readSource() {
  const answer = await fetch(form.dataset.source).catch(() => null);
  const said = await answer?.json().catch(() => null);
  if (answer?.ok) return said.split(/\r?\n/);
  source = null; // to be asked for again
  say([said?.error ?? form.dataset.unreachable, said?.hint].filter(Boolean).join('; '));
  return [];
}

// Opens the editor for a comment on a block, or on the whole document. What is typed into it is a
// comment at once, and is sent with the decision like one that was added.
function edit(block, { c: old, keys: held = [], was, quoted, to: last, kind: asked, typed, again, held: shots = [] } = {}) {
  const box = template('comment-form');
  box.dataset.key = held[0] ?? '';
  if (fresh) closeEditor(fresh);
  fresh = again ? null : box;
  const [from, to] = old ? [old.from ?? 0, old.to ?? 0] : block ? [lines(block)[0], last ?? lines(block)[1]] : [0, 0];
  const file = old ? old.file : fileOf(block);
  const { kind, text, replace } = box.elements;
  let before = file ? textOf(block) : undefined;
  const quote = old?.quote ?? quoted ?? (block ? clip(textOf(block), 200) : '');
  box.dataset.line = from;
  fill(box, 'quote', quote);
  kind.value = old?.kind ?? asked ?? 'change';
  text.value = old?.text ?? typed ?? '';
  replace.value = old?.replace ?? before ?? '';
  const comment = () => {
    const c = { from, to, quote, kind: kind.value };
    if (file) c.file = file;
    if (text.value.trim()) c.text = text.value.trim();
    if (kind.value === 'edit') c.replace = replace.value;
    return c;
  };
  const says = () => text.value.trim() || shots.length || kind.value === 'remove' || (kind.value === 'edit' && replace.value !== before);
  const keep = () => {
    if (says()) held = [words.put({ comment: comment(), open: was ?? true, pictures: shots }, held)];
    else { words.drop(held); held = []; }
    box.dataset.key = held[0] ?? '';
    if (held.length && fresh === box) fresh = null;
    count();
  };
  const changeShots = (all) => {
    shots = all;
    box.dataset.adds = all.map((p) => `\n${pictureLine(p)}`).join('');
    showPictures(box, all, (p) => changeShots(shots.filter((other) => other !== p)));
    keep();
  };
  const shape = async () => {
    const replaces = kind.value === 'edit';
    box.querySelector('[data-replace]').hidden = !replaces;
    if (!replaces || !from || before !== undefined || old?.replace !== undefined) return;
    before = '';
    before = (await (source ??= readSource())).slice(from - 1, to).join('\n');
    replace.value = before + replace.value; // with what was typed meanwhile
  };
  const leave = () => (block ?? document.getElementById('whole')).focus();
  const close = () => { if (fresh === box) fresh = null; closeEditor(box); show(); leave(); };
  box.addEventListener('input', () => { [text, replace].forEach((field) => field.setCustomValidity('')); shape(); keep(); });
  box.addEventListener('submit', (e) => {
    e.preventDefault();
    if (!fits(text) || !fits(replace)) { box.reportValidity(); return; }
    if (!says()) { text.focus(); return; }
    words.put({ comment: comment(), pictures: shots }, held);
    close();
  });
  box.addEventListener('paste', async (e) => {
    const file = [...e.clipboardData.files].find((f) => f.type.startsWith('image/'));
    if (!file) return;
    e.preventDefault();
    const kept = await keepPicture(file);
    if (kept) changeShots([...shots.filter((p) => p.name !== kept.name), kept]);
  });
  box.addEventListener('keydown', (e) => {
    if (e.isComposing) return; // the key is for the input method
    if (e.key === 'Escape') { if (says()) leave(); else close(); }
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); box.requestSubmit(); }
  });
  box.querySelector('[data-cancel]').addEventListener('click', () => {
    if (was) words.put({ comment: was, pictures: shots }, held);
    else words.drop(held);
    close();
  });
  placeEditor(block, box);
  if (shots.length) changeShots(shots);
  if (!again && (old || typed || asked === 'remove')) keep(); // it came with words
  show();
  shape();
  return kind.value === 'edit' ? replace : text;
}

// The selected words, with the blocks that they are in.
function chosen() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount || !selection.toString().trim()) return null;
  const range = selection.getRangeAt(0);
  const within = (node) => { const e = (node.nodeType === 1 ? node : node.parentElement).closest('[data-l], .notes'); return blocks.includes(e) ? e : null; };
  const first = within(range.startContainer), end = within(range.endContainer) ?? first;
  return first && { block: first, to: Math.max(...lines(end)), quoted: clip(end === first ? selection.toString() : [first, end].map(textOf).join(' … '), 200), range };
}

// Comments on the selected words, or on a block.
function comment(kind, typed) {
  if (!form) return;
  const words = chosen();
  if (!words && kind === 'remove') return;
  const field = edit(words?.block ?? blocks[here()] ?? null, { ...words, kind, typed });
  getSelection().removeAllRanges();
  toolbar.hidden = true;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  field.form.scrollIntoView({ block: 'nearest', behavior: 'instant' });
}

// The toolbar stands below the selected words.
let soon = 0;
function placeToolbar() {
  const words = chosen();
  toolbar.hidden = !words;
  if (!words) return;
  const box = words.range.getBoundingClientRect();
  toolbar.style.setProperty('--x', `${Math.max(8, Math.min(box.left, innerWidth - toolbar.offsetWidth - 16)) + scrollX}px`);
  toolbar.style.setProperty('--y', `${box.bottom + scrollY + 8}px`);
}

// What is typed over selected words begins a comment on them, except for the keys of the toolbar.
function typeOver(e) {
  if (toolbar.hidden || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.target.closest?.('input, textarea, select, dialog, button')) return;
  if (e.key === 'Escape') { getSelection().removeAllRanges(); return; }
  if ([...e.key].length !== 1 || 'cqe /?'.includes(e.key) || localStorage.getItem('bmad-keys-off')) return;
  e.preventDefault();
  e.stopImmediatePropagation();
  comment('change', e.key);
}

// A reader's ticks on sections: they are kept with the words, and go when the text of the section changes.
function addTicks() {
  for (const s of paper.querySelectorAll('.s[data-sum]')) {
    const head = s.querySelector(':scope > .b.title, :scope > .folded > .b.title');
    if (!head || head.matches('.removed') || head.querySelector('h2') || !s.querySelector('.b ~ .b')) continue; // the title has no text of its own
    const button = template('looks-good'), sum = s.dataset.sum;
    const held = () => words.keys((item) => item.good === sum);
    const tick = () => button.setAttribute('aria-pressed', held().length > 0);
    button.addEventListener('click', () => {
      if (held().length) words.drop(held());
      else words.put({ good: sum });
      tick();
      count();
    });
    button.setAttribute('aria-describedby', s.getAttribute('aria-labelledby') ?? '');
    head.append(button);
    tick();
  }
}

// Diagrams are drawn when they come near; the source stays below.
function drawDiagrams() {
  const seen = new IntersectionObserver(async (entries) => {
    for (const { target: pre, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(pre);
      const { draw } = await import('./diagram.js');
      draw(pre, { title: paper.dataset.diagram, undrawn: paper.dataset.undrawn });
      findBlocks();
    }
  }, { rootMargin: '600px' });
  for (const pre of paper.querySelectorAll('pre[data-diagram]')) seen.observe(pre);
}

// Boxes that are too wide scroll, and have to be reached by keys; in others the head of a table sticks.
function fitBoxes() {
  const all = [...paper.querySelectorAll('.sheet, pre')].map((e) => [e, e.scrollWidth > e.clientWidth + 1]);
  for (const [e, scrolls] of all) {
    e.classList.toggle('fits', !scrolls);
    if (e.matches('.sheet') || !form) { if (scrolls) e.tabIndex = 0; else e.removeAttribute('tabindex'); }
  }
}

function markSection() {
  const all = [...paper.querySelectorAll('.s')], near = new Set();
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) near[isIntersecting ? 'add' : 'delete'](target);
    outline.querySelector('[aria-current]')?.removeAttribute('aria-current');
    outline.querySelector(`a[href="#${all.findLast((s) => near.has(s))?.id}"]`)?.setAttribute('aria-current', 'location');
  }, { rootMargin: '-60px 0px -70% 0px' });
  for (const s of all) seen.observe(s);
  outline.addEventListener('click', (e) => { if (e.target.closest('a') && outline.matches(':popover-open')) outline.hidePopover(); });
}

if (paper) {
  findBlocks();
  addEventListener('resize', fitBoxes);
  paper.addEventListener('toggle', fitBoxes, true);
  if (paper.dataset.diagram) drawDiagrams();
  markSection();
  paper.addEventListener('focusin', (e) => { if (blocks.includes(e.target)) placeAdder(e.target); });
  paper.addEventListener('keydown', (e) => { if (e.key === 'Enter' && blocks.includes(e.target)) { e.preventDefault(); comment('change'); } });
  for (const link of paper.querySelectorAll('.skipped a')) {
    const rows = link.closest('tbody').nextElementSibling;
    if (!rows?.hidden) continue;
    link.addEventListener('click', (e) => {
      e.preventDefault();
      rows.hidden = false;
      link.closest('tr').remove();
      findBlocks();
      rows.querySelector('[data-l]').focus();
    });
  }
  const chooser = document.getElementById('rounds');
  chooser?.addEventListener('change', () => chooser.requestSubmit());
  chooser?.querySelector('button').setAttribute('hidden', '');
  outline.querySelector('.keys')?.removeAttribute('hidden');
}

const visit = (id) => document.getElementById(id)?.click();
Object.assign(keys, {
  j: () => go(1), k: () => go(-1), n: () => nextNote(1), p: () => nextNote(-1),
  c: () => comment('change'), q: () => comment('question'), e: () => comment('edit'), Delete: () => comment('remove'),
  d: () => visit('to-diff'), v: () => visit('to-next-view'), ']': () => visit('to-next'),
  a: () => focus('[data-decision=approve], [data-decision=override]'), x: () => focus('[data-decision=request_changes]'),
});

// The decision: sent with the comments as one act, by a browser that was paired.
const result = document.getElementById('result');
const more = document.getElementById('more');
const buttons = () => form.querySelectorAll('[data-decision]');
let decided = false;
let stale = false;

function told(message, hint, ...links) {
  const said = [message, hint].filter(Boolean).map((text) => { const p = document.createElement('p'); p.textContent = local(text); return p; });
  for (const link of links.filter(Boolean)) { const a = document.createElement('a'); Object.assign(a, link); said.push(a); }
  result.replaceChildren(...said);
  result.focus();
}

async function decide(button) {
  const d = button.dataset;
  const long = [...document.querySelectorAll('.editor')].find((box) => !fits(box.elements.text) || !fits(box.elements.replace));
  if (long) { long.reportValidity(); return; }
  const body = { decision: d.decision, revision: Number(form.dataset.revision), sha256: form.dataset.sha256, nonce: form.dataset.nonce };
  const shown = words.shot(), sent = comments().map((k) => sentOf(words.get(k))), shots = comments().flatMap((k) => words.get(k).pictures ?? []), feedback = form.elements.feedback.value;
  if (feedback) body.feedback = feedback;
  if (sent.length) body.comments = sent;
  if (shots.length) body.pictures = [...new Set(shots.map((p) => p.name))];
  if (d.decision === 'answer') {
    body.answers = Object.fromEntries([...document.querySelectorAll('[data-question]')].map((field) => [field.dataset.question, field.value]));
    body.skip_rest = form.elements.skip_rest.checked;
  }
  if (d.needs && !feedback.trim() && !sent.length) { told(d.needs); more.open = true; focus('#feedback'); return; }
  buttons().forEach((b) => { b.disabled = true; });
  const toRun = { href: form.dataset.run, textContent: form.dataset.torun };
  try {
    await words.save();
    if (form.elements.sign?.checked) {
      const { sign, usable } = await import('./passkey.js');
      if (usable) body.passkey = await sign(form.dataset.sign, body);
    }
    const answer = await send(form.dataset.decide, body);
    decided = true;
    document.body.dataset.decided = '';
    await words.sent(shown);
    document.querySelectorAll('.editor').forEach(closeEditor);
    more.open = false;
    told(answer.message, form.dataset.goeson, { href: result.dataset.to, textContent: answer.next ?? result.dataset.next, id: 'to-next' }, toRun);
    form.closest('.decide').classList.add('over');
  } catch (problem) {
    const way = problem.pair ? { href: pairing, textContent: form.dataset.pair } : problem.late ? toRun : null;
    told(problem instanceof DOMException ? form.dataset.stopped : problem.message, problem.hint, way);
    buttons().forEach((b) => { b.disabled = stale; });
  }
}

async function send(href, body) {
  const answer = await post(href, JSON.stringify(body));
  if (!answer) throw { message: form.dataset.unreachable };
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw { message: said.error ?? answer.statusText, hint: said.hint, pair: answer.status === 401, late: answer.status === 409 };
  return said;
}

// A page whose run has moved on says so, and decides nothing.
function becomeStale(now) {
  if (decided || !document.body.dataset.print || now.print === document.body.dataset.print) return;
  stale = true;
  document.getElementById('stale').hidden = false;
  buttons().forEach((b) => { b.disabled = true; });
}

// The questions come one by one; an option is put into the field, beside own words.
function askOneByOne() {
  const all = [...document.querySelectorAll('#questions fieldset')];
  let open = 0;
  const step = (by) => {
    open = Math.max(0, Math.min(all.length - 1, open + by));
    all.forEach((f, i) => { f.hidden = i !== open; });
    document.querySelector('[data-step="-1"]').disabled = open === 0;
    document.querySelector('[data-step="1"]').disabled = open === all.length - 1;
  };
  if (all.length) step(Math.max(0, all.findIndex((f) => !f.querySelector('textarea').value)));
  for (const button of document.querySelectorAll('[data-step]')) button.addEventListener('click', () => { step(Number(button.dataset.step)); all[open].querySelector('textarea').focus(); });
  for (const set of all) {
    const field = set.querySelector('textarea'), options = [...set.querySelectorAll('[data-option]')];
    const press = () => options.forEach((o) => o.setAttribute('aria-pressed', field.value.split('\n').includes(o.textContent)));
    field.addEventListener('input', press);
    for (const option of options) {
      option.addEventListener('click', () => {
        const own = field.value.trim() && !options.some((o) => o.textContent === field.value);
        field.value = own ? `${field.value}\n${option.textContent}` : option.textContent;
        field.dispatchEvent(new Event('input'));
      });
    }
    press();
  }
}

if (form) {
  document.body.classList.add('scripted');
  adder.addEventListener('click', () => { const block = blocks[at]; edit(block ?? null, { kind: 'change' }).focus(); });
  const whole = document.getElementById('whole');
  whole.hidden = false;
  whole.addEventListener('click', () => edit(null).focus());
  paper.addEventListener('pointerover', (e) => {
    const block = e.target.closest('[data-l]');
    if (blocks.includes(block)) placeAdder(block);
  });
  document.addEventListener('selectionchange', () => { clearTimeout(soon); soon = setTimeout(placeToolbar, 120); });
  document.addEventListener('keydown', typeOver, true);
  toolbar.addEventListener('pointerdown', (e) => e.preventDefault()); // the words stay selected
  for (const button of toolbar.querySelectorAll('button')) button.addEventListener('click', () => comment(button.dataset.kind));
  for (const button of paper.querySelectorAll('[data-adopt]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const note = button.closest('.note'), line = Number(note.dataset.line);
      edit(blockOf(line), { c: { from: line, to: line, kind: 'change', quote: '', text: clip(note.querySelector('[data-problem]').textContent, 480) } }).focus();
    });
  }
  words.fields(document.querySelectorAll('textarea[form=review]'));
  askOneByOne();
  addTicks();
  for (const k of comments()) {
    const { comment: c, open, pictures: held } = words.get(k);
    if (open) edit(blockOf(c.from, c.file), { c, keys: [k], was: open === true ? undefined : open, again: true, held });
  }
  more.open = !!form.elements.feedback.value;
  more.addEventListener('keydown', (e) => { if (e.key === 'Escape' && !e.isComposing) { more.open = false; more.querySelector('summary').focus(); } });
  for (const button of buttons()) button.addEventListener('click', () => decide(button));
  document.addEventListener('state', (e) => becomeStale(e.detail));
  document.querySelector('#stale button').addEventListener('click', () => location.reload());
  form.addEventListener('submit', (e) => e.preventDefault());
  form.hidden = false;
  unpaired.querySelector('a').href = pairing;
  unpaired.hidden = !!key();
  show();
} else if (words?.keys((item) => item.comment || item.text).length) { // nothing can be decided here any more: the person can take the words elsewhere
  const unsent = document.getElementById('unsent');
  for (const k of words.keys((item) => item.comment || item.text)) {
    const item = words.get(k), text = document.createElement('p');
    text.className = 'prose';
    text.textContent = item.comment ? [item.comment.quote && `“${item.comment.quote}”`, wordsOf(item.comment)].filter(Boolean).join(' ') : item.text;
    unsent.querySelector('button').before(text);
  }
  unsent.querySelector('button').addEventListener('click', () => { words.drop([...words.shown]); unsent.hidden = true; });
  unsent.hidden = false;
}
