// Words that a person has typed and not sent: kept by this browser with each key, and by the server
// for a browser that may decide. A page writes items of its own only, into an entry of its own, and
// buries what it takes over, so that no other tab or browser loses any.
const own = Math.random().toString(36).slice(2);
const live = (item) => !!(item?.text?.trim() || item?.comment || item?.good);

function merge(a, b) {
  const out = { ...a };
  for (const [key, item] of Object.entries(b)) if (!(out[key]?.at >= item.at)) out[key] = item;
  return out;
}

// Words of an earlier program have no keys.
function read(text) {
  let found = {};
  try { found = JSON.parse(text) ?? {}; } catch { /* it is no draft */ }
  const { sha256, feedback, comments, answers, ...items } = found;
  const old = [{ field: 'feedback', text: feedback }, ...(comments ?? []).map((comment) => ({ comment })), ...Object.entries(answers ?? {}).map(([id, answer]) => ({ field: `answer ${id}`, text: answer }))];
  old.filter(live).forEach((item, i) => { items[`old${i}`] = { at: 1, ...item }; });
  return items;
}

export class Words {
  // The name is that in the storage of the browser. post sends the words to the server, if it keeps
  // them, under the version that it is known to have; given is what it has. changed is called when
  // comments come from elsewhere, lost where this browser cannot keep the words.
  constructor(name, { post, version, given, changed, lost } = {}) {
    Object.assign(this, { name: `bmad-words:${name}`, post, version, changed, lost, next: 0 });
    const here = this.stored();
    const old = Date.now() - 7 * 24 * 3600e3;
    this.items = Object.fromEntries(Object.entries(merge(read(given), here)).filter(([, item]) => live(item) || item.at > old));
    this.shown = new Set(Object.keys(this.items).filter((key) => live(this.items[key])));
    if (Object.keys(here).length && this.shown.size) this.keep();
    addEventListener('storage', (e) => { if (e.key?.startsWith(this.name) && e.newValue) this.join(e.newValue); });
    addEventListener('pagehide', () => { if (this.timer) this.send(true); });
  }

  get(key) { return this.items[key]; }
  keys(holds) { return [...this.shown].filter((key) => holds(this.items[key])); }

  // Keeps an item in place of others, and returns its key.
  put(item, instead = []) {
    const key = instead.find((k) => k.startsWith(own)) ?? `${own}${this.next++}`;
    this.bury(instead.filter((k) => k !== key));
    this.set(key, item);
    this.shown.add(key);
    this.keep();
    return key;
  }

  drop(keys) { this.bury(keys); this.keep(); }
  bury(keys) { for (const key of keys) { this.set(key, {}); this.shown.delete(key); } }
  set(key, item) { this.items[key] = { ...item, at: Math.max(Date.now(), (this.items[key]?.at ?? 0) + 1) }; }

  // Takes over what another page has kept. A field keeps the text that its reader sees.
  join(text) {
    this.items = merge(this.items, read(text));
    for (const [key, item] of Object.entries(this.items)) {
      if (item.comment) this.shown.add(key);
      else if (!live(item)) this.shown.delete(key);
    }
    this.changed?.();
  }

  keep() {
    this.store();
    clearTimeout(this.timer);
    if (this.post) this.timer = setTimeout(() => this.save(), 400);
  }

  entries() { return Object.keys(localStorage).filter((name) => name.startsWith(this.name)); }
  stored() { return this.entries().map((name) => read(localStorage.getItem(name))).reduce(merge, {}); }

  store() {
    try {
      this.items = merge(this.items, this.stored());
      localStorage.setItem(this.name + own, JSON.stringify(this.items));
    } catch { this.lost?.(); }
  }

  // Drops the entries of other pages that have nothing more, unless one was written just before: its
  // page may be at it, or the server may have laid out the next page without it.
  tidy(before) {
    for (const name of this.entries()) {
      const items = Object.entries(read(localStorage.getItem(name)));
      if (name !== this.name + own && items.every(([key, item]) => item.at <= before && this.items[key]?.at >= item.at)) localStorage.removeItem(name);
    }
  }

  // Saves go one after the other, so that none that is late brings back what was sent since.
  save() { this.going = (this.going ?? Promise.resolve()).then(() => this.send()); return this.going; }

  async send(leaving) {
    clearTimeout(this.timer);
    this.timer = 0;
    const answer = await this.post(JSON.stringify(this.items), this.version, leaving);
    if (answer?.status === 412) {
      this.join(await answer.text());
      this.version = answer.headers.get('ETag');
      await this.send();
    } else if (answer?.ok) {
      this.version = answer.headers.get('ETag');
      this.tidy(Date.now() - 60e3);
    } else if (!(answer?.status < 500) && !this.timer) this.timer = setTimeout(() => this.save(), 5000);
  }

  // Words as they were at a shot were sent: later ones, and those of others, stay.
  shot() { return [...this.shown].map((key) => [key, this.items[key].at]); }
  sent(shot = this.shot()) {
    this.bury(shot.filter(([key, at]) => this.items[key].at === at).map(([key]) => key));
    this.store();
    this.tidy(Date.now());
    return this.post && this.save(); // other browsers learn what is buried
  }

  // Keeps what is typed into fields. What several pages have kept of one stands in it together.
  fields(all) {
    for (const field of all) {
      const name = field.dataset.question ? `answer ${field.dataset.question}` : field.name;
      let keys = this.keys((item) => item.field === name);
      const texts = [...new Set(keys.map((key) => this.items[key].text))];
      if (texts.length) field.value = texts.join('\n\n');
      field.addEventListener('input', () => { keys = [this.put({ field: name, text: field.value }, keys)]; });
    }
  }
}
