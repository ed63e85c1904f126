// session_commands — models in and out, and the session as a golden test
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "cli/repl/document.h"
#include "cli/repl/repl.h"
#include "runtime/base/file.h"

namespace skdsl::cli::repl {

namespace fs = std::filesystem;

namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

/// A value of the configuration as one word of a RUN line; "" when it cannot be one.
std::string as_word(const std::string& value) {
  std::string out;
  bool quoted = false;
  for (const char c : value) {
    if (c == '"') quoted = !quoted;
    if (c == ' ' && !quoted) continue;
    if (c == ' ' || c == '\n') return "";
    out += c;
  }
  return out;
}

/// The files that a text imports from beside its file, with theirs.
void imported(const fs::path& folder, const std::string& text,
              std::vector<std::pair<std::string, std::string>>& out) {
  const Document d(text);
  for (const ast::NodeId node : d.ast().children(d.ast().root)) {
    if (d.ast().kind(node) != ast::Kind::Import) continue;
    const std::string name(d.ast().text(node));
    if (std::any_of(out.begin(), out.end(), [&](const auto& f) { return f.first == name; })) continue;
    auto read = read_file(folder / name);
    if (!read) continue;  // of the standard library
    out.emplace_back(name, *read);
    imported(folder, *read, out);
  }
}

/// What the RUN lines of a golden test need to give the sizes that config.json gave.
Expected<std::string> size_flags(Repl& repl) {
  source::Sources sources;
  diag::Engine diags(sources);
  sema::Modules modules(diags);
  modules.load_text(repl.now().options.file, repl.now().text);
  ModelOptions options = repl.now().options;
  auto prepared = prepare(modules, options, repl.now().batch);
  if (!prepared) return tl::unexpected(prepared.error());
  auto elaborated = sema::elaborate(modules, prepared->compile.sema, diags);
  if (!elaborated) return fail("the model does not compile");
  std::string out;
  for (const sema::EffectiveValue& v : elaborated->config) {
    if (v.layer != config::Layer::HfConfig && v.layer != config::Layer::RunYaml) continue;
    const std::string word = as_word(v.value);
    if (!word.empty()) out += fmt::format(" --set {}={}", v.key, word);
  }
  const config::Builtins& b = prepared->compile.sema.builtins;
  out += fmt::format(" --set dtype={} --max-seq-len {} --block-size {} --weights synthetic:{}", b.dtype,
                     b.max_seq_len, b.block_size, prepared->synthetic_seed.value_or(0));
  for (const std::string& s : options.set) {
    if (s.find(' ') != std::string::npos)
      return fail(fmt::format("`{}` holds a blank, which a RUN line cannot", s));
    if (!s.starts_with("dtype=")) out += " --set " + s;
  }
  return out;
}

/// The lines of an expectation: what a command writes, and its exit code.
std::string expectation(const std::vector<std::string>& runs, const std::string& program,
                        const std::vector<std::pair<std::string, std::string>>& files) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("skdsl-session-{}", ::getpid());
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const std::string file = (folder / "session.sk").string();
  (void)write_file_atomically(file, program);
  for (const auto& [name, text] : files) {
    fs::create_directories((folder / name).parent_path(), ignored);
    (void)write_file_atomically(folder / name, text);
  }
  std::string out;
  for (const std::string& run : runs) {
    std::vector<std::string> args;
    std::istringstream words(run);
    for (std::string word; words >> word;) {
      replace_all(word, "%s", file);
      args.push_back(word);
    }
    std::istringstream in;
    std::ostringstream standard, errors;
    Context quiet{in, standard, errors};
    const int code = cli::run(args, quiet);
    std::string text = errors.str() + standard.str();
    replace_all(text, folder.string() + "/", "");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out += line.empty() ? "//|\n" : "//| " + line + "\n";
    out += fmt::format("//> exit {}\n", code);
  }
  fs::remove_all(folder, ignored);
  return out;
}

/// The session as a case of tests/golden: RUN lines, the program, what it writes.
bool save_golden(Repl& repl, const std::string& path) {
  std::vector<std::string> runs;
  std::string program;
  std::vector<std::pair<std::string, std::string>> files;
  const bool lines = !repl.statements().empty();
  if (repl.has_model()) {
    auto sizes = size_flags(repl);
    if (!sizes) return repl.failed(sizes.error());
    const std::string mode = repl.now().options.mode.empty() ? "ge_graph" : repl.now().options.mode;
    if (lines) {
      runs.push_back("run %s --mode eager" + *sizes);
    } else {
      runs.push_back(fmt::format("explain %s --batch {} --mode {}{}", repl.now().batch, mode, *sizes));
      runs.push_back(
          fmt::format("run %s --mode {} --prompt-ids 1,2,3 --max-new-tokens 4 --ignore-eos{}", mode, *sizes));
    }
    program = repl.now().text;
    imported(fs::path(repl.file()).parent_path(), program, files);
  } else if (lines) {
    runs.push_back("run %s");
  } else {
    return repl.failed(Error{ErrorKind::Usage,
                             "the session has nothing to save yet",
                             {"help: load a model or run some statements"}});
  }
  if (lines) {
    if (!program.empty() && program.back() != '\n') program += '\n';
    program += repl.statements().program();
  }
  std::string head;
  for (const std::string& run : runs) head += "// RUN: " + run + "\n";
  program = head + program;
  std::string text = program;
  for (const auto& [name, content] : files) {
    text += "//--- file " + name + "\n" + content;
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  const std::string expected = expectation(runs, program, files);
  text += "//--- expect\n" + expected;
  if (auto ok = write_file_atomically(path, text); !ok) return repl.failed(ok.error());
  repl.context().out << fmt::format("wrote {}: {} RUN line{}\n", path, runs.size(),
                                    runs.size() == 1 ? "" : "s");
  return true;
}

bool one_file(Repl& repl, const Arguments& a, std::string_view name) {
  if (a.words.size() == 1) return true;
  const ReplCommand* c = find_command(name);
  return repl.failed(Error{ErrorKind::Usage,
                           fmt::format("write :{} {}", c->name, c->arguments),
                           {fmt::format("help: for example {}", c->example)}});
}

}  // namespace

bool command_load(Repl& repl, const Arguments& a) {
  return one_file(repl, a, "load") && repl.load(a.words[0]);
}

bool command_reload(Repl& repl, const Arguments&) {
  return repl.need_model() && repl.load(std::string(repl.file()));
}

bool command_save(Repl& repl, const Arguments& a) {
  if (!one_file(repl, a, "save")) return false;
  const std::string& path = a.words[0];
  if (!path.ends_with(".sk"))
    return repl.failed(Error{
        ErrorKind::Usage, fmt::format("`{}` is no name of a .sk file", path), {"help: write :save NAME.sk"}});
  if (path.ends_with("test.sk")) return save_golden(repl, path);
  if (!repl.need_model()) return false;
  auto text = formatted(repl.now().text);
  if (!text) return repl.failed(text.error());
  if (auto ok = write_file_atomically(path, *text); !ok) return repl.failed(ok.error());
  repl.context().out << fmt::format("wrote {}\n", path);
  std::error_code ignored;
  const fs::path was = fs::absolute(fs::path(repl.file())).parent_path().lexically_normal(),
                 is = fs::absolute(fs::path(path)).parent_path().lexically_normal();
  if (was != is)
    repl.context().out
        << "  it stands in another folder: what it imports and its default weights are looked for there\n";
  return true;
}

bool command_names(Repl& repl, const Arguments&) {
  const std::string list = repl.statements().list();
  repl.context().out << (list.empty() ? "no names yet\n" : list);
  return true;
}

}  // namespace skdsl::cli::repl
