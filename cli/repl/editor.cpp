#include "cli/repl/editor.h"

#include <histedit.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <filesystem>

#include "cli/repl/input.h"

namespace skdsl::cli::repl {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrompt = "sk> ";
constexpr const char* kMore = "... ";
constexpr int kMostEntries = 1000;

std::string home(const char* variable, const char* otherwise) {
  const char* const set = std::getenv(variable);
  if (set && *set == '/') return set;
  const char* const user = std::getenv("HOME");
  return user && *user == '/' ? std::string(user) + "/" + otherwise : "";
}

int columns() {
  struct winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

/// Columns of a UTF-8 text; -1 when it cannot be told.
int width_of(const std::string& text) {
  int out = 0;
  std::mbstate_t state{};
  for (size_t i = 0; i < text.size();) {
    wchar_t c = 0;
    const size_t n = std::mbrtowc(&c, text.data() + i, text.size() - i, &state);
    if (n == static_cast<size_t>(-1) || n == static_cast<size_t>(-2) || n == 0) return -1;
    const int w = ::wcwidth(c);
    if (w < 0) return -1;
    out += w;
    i += n;
  }
  return out;
}

std::string common_beginning(const std::vector<std::string>& words) {
  std::string out = words.empty() ? "" : words.front();
  for (const std::string& w : words) {
    size_t n = 0;
    while (n < out.size() && n < w.size() && out[n] == w[n]) ++n;
    out.resize(n);
  }
  return out;
}

}  // namespace

std::string history_path() {
  const std::string base = home("XDG_STATE_HOME", ".local/state");
  if (base.empty()) return "";
  std::error_code trouble;
  fs::create_directories(base + "/skdsl", trouble);
  return trouble ? "" : base + "/skdsl/history";
}

std::string startup_path() {
  const std::string base = home("XDG_CONFIG_HOME", ".config");
  return base.empty() ? "" : base + "/skdsl/repl.sk";
}

std::string coloured(const std::string& text, size_t mark) {
  const size_t partner = mark == std::string::npos ? mark : matching_bracket(text, mark);
  std::string out;
  size_t at = 0;
  for (const Piece& p : pieces(text)) {
    out.append(text, at, p.begin - at);
    const char* colour = nullptr;
    switch (p.kind) {
      case Token::Keyword:
        colour = "\x1b[35m";
        break;
      case Token::Operator:
        colour = "\x1b[36m";
        break;
      case Token::Number:
        colour = "\x1b[33m";
        break;
      case Token::String:
        colour = "\x1b[32m";
        break;
      case Token::Comment:
        colour = "\x1b[90m";
        break;
      case Token::Command:
        colour = "\x1b[34m";
        break;
      default:
        break;
    }
    if (partner != std::string::npos && (p.begin == mark || p.begin == partner)) colour = "\x1b[7m";
    if (colour) out += colour;
    out.append(text, p.begin, p.end - p.begin);
    if (colour) out += "\x1b[0m";
    at = p.end;
  }
  return out.append(text, at, std::string::npos);
}

struct Editor::Impl {
  EditorOptions options;
  EditLine* el = nullptr;
  History* history = nullptr;
  bool more = false;
  bool plain_line = true;  // what stands on the row was drawn by libedit alone
  std::string before;      // earlier lines of the input

  static Impl* of(EditLine* el) {
    void* data = nullptr;
    el_get(el, EL_CLIENTDATA, &data);
    return static_cast<Impl*>(data);
  }

  static char* prompt(EditLine* el) { return const_cast<char*>(of(el)->more ? kMore : kPrompt); }

  /// The row in colours over the one that libedit drew; the cursor comes back to its place.
  void draw() const {
    const LineInfo* line = el_line(el);
    const std::string text(line->buffer, static_cast<size_t>(line->lastchar - line->buffer));
    const auto cursor = static_cast<size_t>(line->cursor - line->buffer);
    const int width = width_of(text), left = width_of(text.substr(0, cursor));
    const int prompt_width = static_cast<int>(std::strlen(kPrompt));
    if (width < 0 || left < 0 || text.find('\n') != std::string::npos ||
        prompt_width + width + 1 >= columns())
      return;
    size_t mark = std::string::npos;
    // The bracket under the cursor, else the one before it.
    for (const size_t at : {cursor, cursor - 1})
      if (mark == std::string::npos && at < text.size() && std::strchr("()[]{}", text[at]) != nullptr)
        mark = at;
    const std::string out = "\r" + std::string(more ? kMore : kPrompt) + coloured(text, mark) + "\r\x1b[" +
                            std::to_string(prompt_width + left) + "C";
    std::fflush(stdout);
    for (size_t done = 0; done < out.size();) {
      const ssize_t n = ::write(STDOUT_FILENO, out.data() + done, out.size() - done);
      if (n <= 0) return;
      done += static_cast<size_t>(n);
    }
  }

  static int get(EditLine* el, wchar_t* c) {
    Impl& me = *of(el);
    if (me.options.colour) {
      // While characters are waiting, as in a paste, drawing would only be overtaken.
      struct pollfd waiting{STDIN_FILENO, POLLIN, 0};
      if (::poll(&waiting, 1, 0) == 0) me.draw();
    }
    char bytes[8];
    size_t n = 0;
    for (;;) {
      const ssize_t got = ::read(STDIN_FILENO, bytes + n, 1);
      if (got == 0) return 0;
      if (got < 0) {
        if (errno == EINTR && !me.options.interrupt->load()) continue;
        return -1;
      }
      ++n;
      std::mbstate_t state{};
      const size_t length = std::mbrtowc(c, bytes, n, &state);
      if (length == static_cast<size_t>(-2) && n < sizeof bytes) continue;
      // Bytes that are no character of the locale come one by one.
      if (length == static_cast<size_t>(-1) || length == static_cast<size_t>(-2))
        *c = static_cast<unsigned char>(bytes[0]);
      if (length == 0) *c = L'\0';
      return 1;
    }
  }

  static unsigned char complete(EditLine* el, int) {
    Impl& me = *of(el);
    const LineInfo* line = el_line(el);
    const std::string before =
        me.before + std::string(line->buffer, static_cast<size_t>(line->cursor - line->buffer));
    const std::vector<std::string> words =
        me.options.complete ? me.options.complete(before) : std::vector<std::string>{};
    if (words.empty()) return CC_REFRESH_BEEP;
    // How much of the words stands there already.
    const std::string common = common_beginning(words);
    size_t have = std::min(common.size(), before.size());
    while (have > 0 && before.compare(before.size() - have, have, common, 0, have) != 0) --have;
    if (common.size() > have || words.size() == 1) {
      std::string add = common.substr(have);
      if (words.size() == 1 && !add.ends_with("/") && !add.ends_with("=")) add += ' ';
      return el_insertstr(el, add.c_str()) == -1 ? CC_ERROR : CC_REFRESH;
    }
    size_t widest = 0;
    for (const std::string& w : words) widest = std::max(widest, w.size());
    const size_t per_row = std::max<size_t>(1, static_cast<size_t>(columns()) / (widest + 2));
    std::string list = "\n";
    for (size_t i = 0; i < words.size(); ++i) {
      list += words[i];
      list += (i + 1) % per_row == 0 || i + 1 == words.size()
                  ? "\n"
                  : std::string(widest + 2 - words[i].size(), ' ');
    }
    std::fputs(list.c_str(), stdout);
    std::fflush(stdout);
    return CC_REDISPLAY;
  }

  void remember(std::string input) const {
    while (!input.empty() && (input.back() == '\n' || input.back() == ' ')) input.pop_back();
    if (input.empty()) return;
    HistEvent event;
    ::history(history, &event, H_ENTER, input.c_str());
    if (!options.history_file.empty()) ::history(history, &event, H_SAVE, options.history_file.c_str());
  }

  /// One line; false at the end of the input or after Ctrl-C.
  bool line(std::string& out) {
    if (el) {
      int count = 0;
      const char* const text = el_gets(el, &count);
      if (!text || count <= 0) return false;
      out.assign(text, static_cast<size_t>(count));
    } else {
      std::fputs(more ? kMore : kPrompt, stdout);
      std::fflush(stdout);
      out.clear();
      char c = 0;
      for (;;) {
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR && !options.interrupt->load()) continue;
        if (got < 0) return false;
        if (got == 0) return !out.empty();
        if (c == '\n') break;
        out += c;
      }
    }
    while (!out.empty() && (out.back() == '\n' || out.back() == '\r')) out.pop_back();
    return true;
  }
};

Editor::Editor(EditorOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  std::setlocale(LC_CTYPE, "");
  const char* const term = std::getenv("TERM");
  if (!term || *term == '\0' || std::strcmp(term, "dumb") == 0) return;
  Impl& me = *impl_;
  me.el = el_init("skdsl", stdin, stdout, stderr);
  if (!me.el) return;
  me.history = history_init();
  HistEvent event;
  ::history(me.history, &event, H_SETSIZE, kMostEntries);
  ::history(me.history, &event, H_SETUNIQUE, 1);
  if (!me.options.history_file.empty())
    ::history(me.history, &event, H_LOAD, me.options.history_file.c_str());
  el_set(me.el, EL_CLIENTDATA, &me);
  el_set(me.el, EL_EDITOR, "emacs");
  el_set(me.el, EL_SIGNAL, 0);
  el_set(me.el, EL_PROMPT, &Impl::prompt);
  el_set(me.el, EL_HIST, ::history, me.history);
  el_set(me.el, EL_GETCFN, &Impl::get);
  el_set(me.el, EL_ADDFN, "skdsl-complete", "complete a word", &Impl::complete);
  el_set(me.el, EL_BIND, "\t", "skdsl-complete", nullptr);
  el_set(me.el, EL_BIND, "^R", "em-inc-search-prev", nullptr);
}

Editor::~Editor() {
  if (impl_->history) history_end(impl_->history);
  if (impl_->el) el_end(impl_->el);
}

Editor::Got Editor::read(std::string& input) {
  Impl& me = *impl_;
  input.clear();
  me.before.clear();
  me.more = false;
  for (;;) {
    std::string line;
    me.options.interrupt->store(false);
    if (!me.line(line)) {
      if (me.options.interrupt->load()) {
        me.options.interrupt->store(false);
        std::fputs("\n", stdout);
        std::fflush(stdout);
        return Got::Interrupted;
      }
      std::fputs("\n", stdout);
      std::fflush(stdout);
      // What was typed before Ctrl-D is run, and reports what it lacks.
      return input.empty() ? Got::End : Got::Input;
    }
    input += line + "\n";
    if (!needs_more(input)) break;
    me.before = input;
    me.more = true;
  }
  if (me.history) me.remember(input);
  return Got::Input;
}

}  // namespace skdsl::cli::repl
