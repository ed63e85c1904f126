// record — makes the tokenizers of this folder and records what other implementations do with them
//
//   npm install @anush008/tokenizers      the Rust library of Hugging Face, built for node
//   apt-get install sentencepiece         spm_train, spm_encode, spm_export_vocab
//   node record.cjs                       writes strings.json and, for each form, its tokenizer and <form>.expected.json
//
// The tests read what is written here and need neither. Everything follows from the seed.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {execFileSync} = require('child_process');
const {Tokenizer} = require('@anush008/tokenizers');

let state = 20240917n;
function random(n) {  // xorshift64*, below n
  state ^= state >> 12n;
  state ^= (state << 25n) & 0xffffffffffffffffn;
  state ^= state >> 27n;
  return Number(((state * 2685821657736338717n) & 0xffffffffffffffffn) >> 33n) % n;
}
const pick = list => list[random(list.length)];

// ---- a corpus of our own: sentences from small tables, with some of what texts have beside English

const nouns = ['river', 'kernel', 'garden', 'tensor', 'letter', 'window', 'matrix', 'teacher', 'lantern', 'cache', 'engine', 'island'];
const verbs = ['carries', 'reads', 'follows', 'multiplies', 'answers', 'remembers', 'crosses', 'builds', 'measures', 'paints'];
const adjectives = ['small', 'green', 'patient', 'fast', 'quiet', 'hidden', 'broken', 'bright', 'careful', 'old'];
const others = ['Der Fluss trägt über tausend Brücken.', 'Où est la clé ? Elle est près du café.', 'El niño pidió más azúcar.',
  'Большая река течёт на север.', 'Η θάλασσα είναι ήρεμη.', '今日は天気がいいですね。', '模型把文字变成数字。', '바람이 조용히 분다.',
  'النهر يجري نحو البحر', 'नदी धीरे बहती है', 'That\'s what she\'s said: we\'ll see, I\'d say they\'ve gone!', 'for (int i = 0; i < 128; ++i) sum += x[i] * y[i];',
  '3.14159 and 2,718,281 are numbers; 1024 = 2^10.', '😀 🎉 👩‍🔬 🇨🇭 ❤️', 'name\tvalue\nalpha\t1\nbeta\t22\n'];
function sentence() {
  const s = `The ${pick(adjectives)} ${pick(nouns)} ${pick(verbs)} the ${pick(nouns)} and ${pick(verbs)} a ${pick(adjectives)} ${pick(nouns)}.`;
  return random(3) === 0 ? pick(others) : s;
}
const corpus = Array.from({length: 1500}, sentence);

// ---- 1,000 strings: text, and what goes wrong with text

const alphabets = [
  () => String.fromCodePoint(0x20 + random(0x5f)), () => pick([' ', ' ', '  ', '\n', '\t', '\r\n', '\u00a0', '\u3000', '\u0085', '\u180e', '\u200b', '\u2028']),
  () => String.fromCodePoint(0xa1 + random(0x24f - 0xa1)), () => 'e' + String.fromCodePoint(0x300 + random(0x30)),
  () => String.fromCodePoint(0x391 + random(0x19) % 17), () => String.fromCodePoint(0x410 + random(0x40)),
  () => String.fromCodePoint(0x5d0 + random(27)), () => String.fromCodePoint(0x627 + random(20)), () => String.fromCodePoint(0x905 + random(0x45)),
  () => String.fromCodePoint(0x3041 + random(0x50)), () => String.fromCodePoint(0x4e00 + random(0x5000)), () => String.fromCodePoint(0xac00 + random(11172)),
  () => pick(['😀', '👩‍🔬', '🇨🇭', '❤️', '👍🏽', '𝒳', '𐍈', '\u{10ffff}', '\ufffd', '\ufeff']), () => String(random(100000)),
  () => pick(['ＡＢ', 'Ω', '\'s', '\'S', '\'ll', '\'re', ' I\'d', 'ſ', 'İ', 'ß', 'ﬁ', '²', 'Ⅳ', '½', '①', '٣', 'Å', '\u212b', '\u1e9b\u0323']),
  () => pick(['<s>', '</s>', '<unk>', '<|end|>', '<tool>', '<0x41>', '▁', 'Ġ', '_', '|', '$', '\u0000', '\u0007']),
  () => pick(corpus).slice(random(20), 20 + random(20)), () => pick(nouns) + ' ' + pick(verbs),
];
function string() {
  let s = '';
  for (let n = random(7); n > 0; --n) {
    const alphabet = pick(alphabets);
    for (let k = 1 + random(3); k > 0; --k) s += alphabet();
  }
  return s;
}
const strings = Array.from({length: 1000}, (_, i) => i === 0 ? '' : i < 40 ? corpus[i] : string()).map(s => Buffer.from(s, 'utf8').toString('utf8'));

// ---- byte-level vocabulary: merges learnt from the corpus

const byteCharacter = [];
for (let b = 0, next = 0x100; b < 256; ++b)
  byteCharacter.push(String.fromCodePoint((b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae ? b : next++));
function learnMerges(count) {
  const words = new Map();
  for (const s of corpus)
    for (const w of s.match(/ ?[\p{L}\p{M}]+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+/gu)) {
      const key = [...Buffer.from(w)].map(b => byteCharacter[b]).join('');
      words.set(key, (words.get(key) || 0) + 1);
    }
  const list = [...words].map(([w, n]) => ({parts: [...w], n}));
  const merges = [];
  while (merges.length < count) {
    const pairs = new Map();
    for (const {parts, n} of list)
      for (let i = 0; i + 1 < parts.length; ++i) {
        const key = parts[i] + ' ' + parts[i + 1];
        pairs.set(key, (pairs.get(key) || 0) + n);
      }
    let best = null;
    for (const [key, n] of pairs) if (!best || n > best[1] || (n === best[1] && key < best[0])) best = [key, n];
    if (!best || best[1] < 2) break;
    const [left, right] = best[0].split(' ');
    merges.push([left, right]);
    for (const item of list)
      for (let i = 0; i + 1 < item.parts.length; ++i)
        if (item.parts[i] === left && item.parts[i + 1] === right) item.parts.splice(i, 2, left + right);
  }
  return merges;
}
const byteMerges = learnMerges(500);
function byteVocabulary(first) {
  const vocab = {};
  let id = first;
  for (const c of byteCharacter) vocab[c] = id++;
  for (const [a, b] of byteMerges) if (!(a + b in vocab)) vocab[a + b] = id++;
  return vocab;
}
const added = (id, content, more = {}) => ({id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...more});
const byteLevel = (more = {}) => ({type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false, ...more});
const split = (regex, behavior = 'Isolated', invert = false) => ({type: 'Split', pattern: {Regex: regex}, behavior, invert});
const single = (...items) => items.map(i => i === 'A' ? {Sequence: {id: 'A', type_id: 0}} : {SpecialToken: {id: i, type_id: 0}});
const template = (items, tokens) => ({type: 'TemplateProcessing', single: single(...items), pair: single(...items, 'A').map((x, i, all) => i + 1 === all.length ? {Sequence: {id: 'B', type_id: 1}} : x),
  special_tokens: Object.fromEntries(Object.entries(tokens).map(([id, n]) => [id, {id, ids: [n], tokens: [id]}]))});
const bpe = (vocab, merges, more = {}) => ({type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null,
  fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab, merges, ...more});
const file = parts => ({version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, ...parts});

const llama3 = '(?i:\'s|\'t|\'re|\'ve|\'m|\'ll|\'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const qwen = llama3.replace('{1,3}', '');
const deepseek = '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

// ---- the SentencePiece model, and the same vocabulary as a tokenizer.json

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'record-'));
fs.writeFileSync(path.join(work, 'corpus.txt'), corpus.join('\n'));
function train(name, ...options) {
  execFileSync('spm_train', ['--input=corpus.txt', `--model_prefix=${name}`, '--vocab_size=900', '--num_threads=1', '--hard_vocab_limit=false', ...options], {stdio: 'ignore', cwd: work});  // a model keeps these names
  fs.copyFileSync(`${work}/${name}.model`, path.join(__dirname, `${name}.model`));
}
train('sp_bpe', '--model_type=bpe', '--byte_fallback=true', '--normalization_rule_name=identity', '--remove_extra_whitespaces=false', '--character_coverage=0.995', '--split_digits=true', '--allow_whitespace_only_pieces=true');
// Rules of our own: full-width letters, a ligature, the ideographic space.
fs.writeFileSync(path.join(work, 'rules.tsv'), [...Array.from({length: 26}, (_, i) => `${(0xff21 + i).toString(16)}\t${(0x41 + i).toString(16)}`), 'FB01\t66 69', '3000\t20', '2126\t3A9'].join('\n') + '\n');
train('sp_unigram', '--model_type=unigram', '--normalization_rule_tsv=rules.tsv', '--user_defined_symbols=<tool>', '--character_coverage=0.99', '--vocab_size=500');
const pieces = execFileSync('spm_export_vocab', [`--model=${work}/sp_bpe.model`, '--output_format=vocab'], {encoding: 'utf8'}).trimEnd().split('\n').map(l => l.split('\t')[0]);
const spVocab = Object.fromEntries(pieces.map((p, i) => [p, i]));
const spMerges = [];
pieces.forEach((piece, id) => {
  const cs = [...piece];
  for (let i = 1; i < cs.length; ++i) {
    const left = cs.slice(0, i).join(''), right = cs.slice(i).join('');
    if (left in spVocab && right in spVocab) spMerges.push([id, [...left].length, left, right]);
  }
});
spMerges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
const spBpe = more => bpe(spVocab, spMerges.map(m => `${m[2]} ${m[3]}`), {unk_token: '<unk>', fuse_unk: true, byte_fallback: true, ...more});
const spAdded = [added(0, '<unk>'), added(1, '<s>'), added(2, '</s>')];
const spDecoder = {type: 'Sequence', decoders: [{type: 'Replace', pattern: {String: '▁'}, content: ' '}, {type: 'ByteFallback'}, {type: 'Fuse'}, {type: 'Strip', content: ' ', start: 1, stop: 0}]};
const words = [...new Set(corpus.join(' ').match(/[A-Za-z]+|[^\sA-Za-z]+/g))].slice(0, 120);
const lowercaseWords = [...new Set(words.map(w => w.toLowerCase()))];

const n = 256 + byteMerges.length;
const forms = {
  gpt2: file({added_tokens: [added(n, '<|end|>'), added(n + 1, '<tool>', {special: false, single_word: true, normalized: true})], pre_tokenizer: byteLevel({add_prefix_space: true, use_regex: true}),
    post_processor: byteLevel(), decoder: byteLevel(), model: bpe(byteVocabulary(0), byteMerges.map(m => m.join(' ')))}),
  llama3: file({added_tokens: [added(n + 1, '<s>'), added(n + 2, '<|end|>', {lstrip: true, rstrip: true})], pre_tokenizer: {type: 'Sequence', pretokenizers: [split(llama3), byteLevel()]},
    post_processor: {type: 'Sequence', processors: [byteLevel(), template(['<s>', 'A'], {'<s>': n + 1})]}, decoder: byteLevel(), model: bpe({...byteVocabulary(0), 'Ġlighthouse': n}, byteMerges, {ignore_merges: true})}),
  qwen3: file({added_tokens: [added(n, '<|end|>'), added(n + 1, '<tool>', {special: false})], normalizer: {type: 'NFC'}, pre_tokenizer: {type: 'Sequence', pretokenizers: [split(qwen), byteLevel()]},
    post_processor: byteLevel(), decoder: byteLevel(), model: bpe(byteVocabulary(0), byteMerges, {continuing_subword_prefix: '', end_of_word_suffix: ''})}),
  deepseek: file({added_tokens: [added(0, '<s>', {normalized: true}), added(1, '</s>', {normalized: true}), added(n + 2, '<tool>', {special: false, rstrip: true})], normalizer: {type: 'Sequence', normalizers: []},
    pre_tokenizer: {type: 'Sequence', pretokenizers: [split('\\p{N}{1,3}'), split('[一-龥぀-ゟ゠-ヿ]+'), split(deepseek), byteLevel()]},
    post_processor: template(['<s>', 'A', '</s>'], {'<s>': 0, '</s>': 1}), decoder: byteLevel(), model: bpe({'<s>': 0, '</s>': 1, ...byteVocabulary(2)}, byteMerges)}),
  llama2: file({added_tokens: spAdded, normalizer: {type: 'Sequence', normalizers: [{type: 'Prepend', prepend: '▁'}, {type: 'Replace', pattern: {String: ' '}, content: '▁'}]},
    post_processor: template(['<s>', 'A'], {'<s>': 1}), decoder: spDecoder, model: spBpe()}),
  metaspace: file({added_tokens: [...spAdded, added(pieces.length, '<|end|>', {special: false, normalized: true, lstrip: true})], normalizer: {type: 'Sequence', normalizers: [{type: 'NFKC'}, {type: 'Replace', pattern: {Regex: '\\s{2,}'}, content: ' '}]},
    pre_tokenizer: {type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true}, decoder: {type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true},
    model: spBpe({byte_fallback: false, fuse_unk: false})}),
  word_level: file({added_tokens: [added(0, '<unk>'), added(lowercaseWords.length + 1, '<tool>', {special: false, lstrip: true, rstrip: true})], normalizer: {type: 'Sequence', normalizers: [{type: 'NFD'}, {type: 'StripAccents'}, {type: 'Lowercase'}, {type: 'Strip', strip_left: true, strip_right: true}]},
    pre_tokenizer: {type: 'Sequence', pretokenizers: [{type: 'Whitespace'}, {type: 'Digits', individual_digits: true}, {type: 'Punctuation', behavior: 'Isolated'}, split('\\w\\b', 'MergedWithPrevious', false)]},
    model: {type: 'WordLevel', unk_token: '<unk>', vocab: Object.fromEntries([['<unk>', 0], ...lowercaseWords.map((w, i) => [w, i + 1])])}}),
};

const lines = list => '[\n' + list.map(x => JSON.stringify(x)).join(',\n') + '\n]';
const write = (name, text) => fs.writeFileSync(path.join(__dirname, name), text + '\n');
const idText = ids => ids.join(' ');

(async () => {
  write('strings.json', lines(strings));
  for (const [name, json] of Object.entries(forms)) {
    const text = JSON.stringify(json);
    write(`${name}.json`, text);
    const tokenizer = Tokenizer.fromString(text);
    const size = tokenizer.getVocabSize(true);
    const encoded = [], decoded = [];
    for (const s of strings) {
      const ids = (await tokenizer.encode(s)).getIds();
      encoded.push(idText(ids));
    }
    for (let i = 0; i < 200; ++i) {
      const ids = Array.from({length: 1 + random(12)}, () => random(size));
      decoded.push([idText(ids), await tokenizer.decode(ids, i % 2 === 0)]);
    }
    write(`${name}.expected.json`, `{"ids":${lines(encoded)},"decoded":${lines(decoded)}}`);
    console.log(name, size);
  }
  fs.rmSync(work, {recursive: true});
})();
