
// What the search of the site does besides: each pair of Chinese characters counts as a word.
var han = /[\u3400-\u9fff]+/g;

// pairs puts the pairs of a run of Chinese characters between spaces.
function pairs(text) {
  return text.replace(han, function (run) {
    var out = run.length === 1 ? [run] : [];
    for (var i = 0; i + 1 < run.length; i++) out.push(run.substr(i, 2));
    return ' ' + out.join(' ') + ' ';
  });
}

// asked has a page have all of the pairs that somebody asks for; of a single character, any word with it.
function asked(query) {
  return query.replace(han, function (run) {
    return run.length === 1 ? ' +*' + run + '* ' : pairs(run).replace(/ (?=\S)/g, ' +');
  });
}

// chinese has the index take these words, which its own trimmer would drop as punctuation.
function chinese() {
  var words = lunr.tokenizer;
  lunr.tokenizer = function (text, metadata) { return words(pairs(lunr.utils.asString(text)), metadata); };
  lunr.tokenizer.separator = words.separator;
  lunr.trimmer = function (token) {
    return token.update(function (s) { return s.replace(/^[^\w\u3400-\u9fff]+|[^\w\u3400-\u9fff]+$/g, ''); });
  };
  lunr.Pipeline.registeredFunctions.trimmer = lunr.trimmer;
  lunr.trimmer.label = 'trimmer';
}
