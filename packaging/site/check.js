// node check.js SITE WORDS=PAGE...: the search of a built site finds each page by its words.
'use strict';
const fs = require('fs'), path = require('path'), vm = require('vm');
const [site, ...wanted] = process.argv.slice(2);
const read = name => fs.readFileSync(path.join(site, 'search', name), 'utf8');
let found;
const worker = {
  console: { log() {}, error: console.error },
  importScripts(...names) { for (const name of names) vm.runInContext(read(name), worker); },
  postMessage(message) { if (message.results) found = message.results.map(doc => doc.location.split('#')[0]); },
  XMLHttpRequest: class {
    addEventListener(_, done) { this.done = done; }
    open(_, name) { this.responseText = read(name); }
    send() { this.done(); }
  },
};
vm.createContext(worker);
vm.runInContext(read('worker.js'), worker);
worker.onmessage({ data: { init: true } });
for (const want of wanted) {
  const [words, page] = want.split('=');
  worker.onmessage({ data: { query: words } });
  if (page ? !found.includes(page) : found.length) {
    console.error(`the search for ${words} finds ${JSON.stringify(found)}, not ${page || 'nothing'}`);
    process.exitCode = 1;
  }
}
