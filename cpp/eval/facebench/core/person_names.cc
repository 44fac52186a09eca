#include "facebench/core/person_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "facebench/core/utf8.h"

namespace facebench {
namespace {

// What a letter folds to, and the letters: the decompositions (NFKD) and case foldings of Unicode,
// marks dropped, with what has no decomposition by its usual transcription.
// (How wide clang-format takes some of these letters to be depends on the system.)
// clang-format off
constexpr std::string_view kFoldings =
    "a=ªÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃȦȧḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặ ae=ÆæǢǣǼǽ aʾ=ẚ b=ḂḃḄḅḆḇ "
    "c=ÇçĆćĈĉĊċČčḈḉ d=ÐðĎďĐđḊḋḌḍḎḏḐḑḒḓ dz=ǄǅǆǱǲǳ "
    "e=ÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇȨȩḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệ f=Ḟḟ g=ĜĝĞğĠġĢģǦǧǴǵḠḡ "
    "h=ĤĥĦħȞȟʰḢḣḤḥḦḧḨḩḪḫẖ i=ÌÍÎÏìíîïĨĩĪīĬĭĮįİıǏǐȈȉȊȋḬḭḮḯỈỉỊị ij=Ĳĳ j=Ĵĵǰʲ k=ĶķĸǨǩḰḱḲḳḴḵ "
    "l=ĹĺĻļĽľŁłˡḶḷḸḹḺḻḼḽ lj=Ǉǈǉ l·=Ŀŀ m=ḾḿṀṁṂṃ n=ÑñŃńŅņŇňŉŊŋǸǹṄṅṆṇṈṉṊṋ nj=Ǌǋǌ "
    "o=ºÒÓÔÕÖØòóôõöøŌōŎŏŐőƠơǑǒǪǫǬǭǾǿȌȍȎȏȪȫȬȭȮȯȰȱṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợ oe=Œœ p=ṔṕṖṗ "
    "r=ŔŕŖŗŘřȐȑȒȓʳṘṙṚṛṜṝṞṟ s=ŚśŜŝŞşŠšſȘșˢṠṡṢṣṤṥṦṧṨṩẛ ss=ßẞ t=ŢţŤťŦŧȚțṪṫṬṭṮṯṰṱẗ th=Þþ "
    "u=ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữỰự v=ṼṽṾṿ w=ŴŵʷẀẁẂẃẄẅẆẇẈẉẘ "
    "x=ˣẊẋẌẍ y=ÝýÿŶŷŸȲȳʸẎẏẙỲỳỴỵỶỷỸỹ z=ŹźŻżŽžẐẑẒẓẔẕ ƀ=Ƀ ƃ=Ƃ ƅ=Ƅ ƈ=Ƈ ƌ=Ƌ ƒ=Ƒ ƕ=Ƕ ƙ=Ƙ ƚ=Ƚ ƞ=Ƞ ƣ=Ƣ "
    "ƥ=Ƥ ƨ=Ƨ ƭ=Ƭ ƴ=Ƴ ƶ=Ƶ ƹ=Ƹ ƽ=Ƽ ƿ=Ƿ ǝ=Ǝ ǥ=Ǥ ȝ=Ȝ ȣ=Ȣ ȥ=Ȥ ȼ=Ȼ ɂ=Ɂ ɇ=Ɇ ɉ=Ɉ ɋ=Ɋ ɍ=Ɍ ɏ=Ɏ ɓ=Ɓ ɔ=Ɔ ɖ=Ɖ "
    "ɗ=Ɗ ə=Ə ɛ=Ɛ ɠ=Ɠ ɣ=Ɣˠ ɦ=ʱ ɨ=Ɨ ɩ=Ɩ ɯ=Ɯ ɲ=Ɲ ɵ=Ɵ ɹ=ʴ ɻ=ʵ ʀ=Ʀ ʁ=ʶ ʃ=Ʃ ʈ=Ʈ ʉ=Ʉ ʊ=Ʊ ʋ=Ʋ ʌ=Ʌ ʒ=ƷǮǯ "
    "ʕ=ˤ ʹ=ʹ ͱ=Ͱ ͳ=Ͳ ͷ=Ͷ ͻ=Ͻ ͼ=Ͼ ͽ=Ͽ α=ΆΑάἀἁἂἃἄἅἆἇἈἉἊἋἌἍἎἏὰάᾀᾁᾂᾃᾄᾅᾆᾇᾈᾉᾊᾋᾌᾍᾎᾏᾰᾱᾲᾳᾴᾶᾷᾸᾹᾺΆᾼ β=Βϐ γ=Γ "
    "δ=Δ ε=ΈΕέϵἐἑἒἓἔἕἘἙἚἛἜἝὲέῈΈ ζ=Ζ η=ΉΗήἠἡἢἣἤἥἦἧἨἩἪἫἬἭἮἯὴήᾐᾑᾒᾓᾔᾕᾖᾗᾘᾙᾚᾛᾜᾝᾞᾟῂῃῄῆῇῊΉῌ θ=Θϑϴ "
    "ι=ΊΐΙΪίϊἰἱἲἳἴἵἶἷἸἹἺἻἼἽἾἿὶίιῐῑῒΐῖῗῘῙῚΊ κ=Κϰ λ=Λ μ=µΜ ν=Ν ξ=Ξ ο=ΌΟόὀὁὂὃὄὅὈὉὊὋὌὍὸόῸΌ π=Πϖ "
    "ρ=ΡϱῤῥῬ σ=ΣςϲϹ τ=Τ υ=ΎΥΫΰϋύϒϓϔὐὑὒὓὔὕὖὗὙὛὝὟὺύῠῡῢΰῦῧῨῩῪΎ φ=Φϕ χ=Χ ψ=Ψ "
    "ω=ΏΩώὠὡὢὣὤὥὦὧὨὩὪὫὬὭὮὯὼώᾠᾡᾢᾣᾤᾥᾦᾧᾨᾩᾪᾫᾬᾭᾮᾯῲῳῴῶῷῺΏῼ ϗ=Ϗ ϙ=Ϙ ϛ=Ϛ ϝ=Ϝ ϟ=Ϟ ϡ=Ϡ ϣ=Ϣ ϥ=Ϥ ϧ=Ϧ ϩ=Ϩ ϫ=Ϫ "
    "ϭ=Ϭ ϯ=Ϯ ϳ=Ϳ ϸ=Ϸ ϻ=Ϻ а=АӐӑӒӓ б=Б в=В г=ЃГѓ д=Д е=ЀЁЕѐёӖӗ "
    "ж=ЖӁӂӜӝ "
    "з=ЗӞӟ "
    "и=ЍИЙйѝӢӣӤӥ "
    "к=ЌКќ "
    "л=Л "
    "м=М н=Н о=ОӦӧ п=П р=Р с=С т=Т у=ЎУўӮӯӰӱӲӳ ф=Ф х=Х ц=Ц ч=ЧӴӵ ш=Ш щ=Щ ъ=Ъ ы=ЫӸӹ ь=Ь э=ЭӬӭ ю=Ю "
    "я=Я ђ=Ђ є=Є ѕ=Ѕ і=ІЇї ј=Ј љ=Љ њ=Њ ћ=Ћ џ=Џ ѡ=Ѡ ѣ=Ѣ ѥ=Ѥ ѧ=Ѧ ѩ=Ѩ ѫ=Ѫ ѭ=Ѭ ѯ=Ѯ ѱ=Ѱ ѳ=Ѳ ѵ=ѴѶѷ ѹ=Ѹ "
    "ѻ=Ѻ ѽ=Ѽ ѿ=Ѿ ҁ=Ҁ ҋ=Ҋ ҍ=Ҍ ҏ=Ҏ ґ=Ґ ғ=Ғ ҕ=Ҕ җ=Җ ҙ=Ҙ қ=Қ ҝ=Ҝ ҟ=Ҟ ҡ=Ҡ ң=Ң ҥ=Ҥ ҧ=Ҧ ҩ=Ҩ ҫ=Ҫ ҭ=Ҭ ү=Ү "
    "ұ=Ұ ҳ=Ҳ ҵ=Ҵ ҷ=Ҷ ҹ=Ҹ һ=Һ ҽ=Ҽ ҿ=Ҿ ӄ=Ӄ ӆ=Ӆ ӈ=Ӈ ӊ=Ӊ ӌ=Ӌ ӎ=Ӎ ӏ=Ӏ ӕ=Ӕ ә=ӘӚӛ ӡ=Ӡ ө=ӨӪӫ ӷ=Ӷ ӻ=Ӻ ӽ=Ӽ "
    "ӿ=Ӿ ԁ=Ԁ ԃ=Ԃ ԅ=Ԅ ԇ=Ԇ ԉ=Ԉ ԋ=Ԋ ԍ=Ԍ ԏ=Ԏ ԑ=Ԑ ԓ=Ԓ ԕ=Ԕ ԗ=Ԗ ԙ=Ԙ ԛ=Ԛ ԝ=Ԝ ԟ=Ԟ ԡ=Ԡ ԣ=Ԣ ԥ=Ԥ ԧ=Ԧ "
    "ԩ=Ԩ "
    "ԫ=Ԫ "
    "ԭ=Ԭ ԯ=Ԯ ա=Ա բ=Բ գ=Գ դ=Դ ե=Ե եւ=և զ=Զ է=Է ը=Ը թ=Թ ժ=Ժ ի=Ի լ=Լ խ=Խ ծ=Ծ կ=Կ "
    "հ=Հ "
    "ձ=Ձ "
    "ղ=Ղ "
    "ճ=Ճ "
    "մ=Մ "
    "յ=Յ ն=Ն շ=Շ ո=Ո չ=Չ պ=Պ ջ=Ջ ռ=Ռ ս=Ս վ=Վ տ=Տ ր=Ր ց=Ց ւ=Ւ փ=Փ ք=Ք օ=Օ ֆ=Ֆ ỻ=Ỻ ỽ=Ỽ ỿ=Ỿ ⱥ=Ⱥ ⱦ=Ⱦ ";
// clang-format on

// By the bytes of the letter.
const std::unordered_map<std::string_view, std::string_view>& foldings() {
  static const auto* table = [] {
    auto* map = new std::unordered_map<std::string_view, std::string_view>;
    for (std::string_view rest = kFoldings; !rest.empty();) {
      const std::string_view entry = rest.substr(0, rest.find(' '));
      rest.remove_prefix(entry.size() + 1);
      const std::size_t equals = entry.find('=');
      for (std::string_view letters = entry.substr(equals + 1); !letters.empty();) {
        const std::size_t length = utf8_length(letters);
        map->emplace(letters.substr(0, length), entry.substr(0, equals));
        letters.remove_prefix(length);
      }
    }
    return map;
  }();
  return *table;
}

bool is_mark(std::string_view letter) {  // U+0300 to U+036F
  return letter.size() == 2 &&
         (letter[0] == '\xCC' ||
          (letter[0] == '\xCD' && static_cast<unsigned char>(letter[1]) < 0xB0));
}

// Signs that stand inside a word: the apostrophes ', U+2019 and U+02BC.
bool is_apostrophe(std::string_view letter) {
  return letter == "'" || letter == "\u2019" || letter == "\u02BC";
}

// Letters and digits: all of ASCII's, and whatever lies beyond but for U+0080 to U+00BF and the
// general punctuation U+2000 to U+206F.
bool is_part_of_word(std::string_view letter) {
  const auto first = static_cast<unsigned char>(letter[0]);
  if (letter.size() == 1)
    return (first >= '0' && first <= '9') || (first >= 'a' && first <= 'z') ||
           (first >= 'A' && first <= 'Z');
  if (first == 0xC2) return false;
  return !(letter.size() == 3 && first == 0xE2 &&
           (letter[1] == '\x80' || (letter[1] == '\x81' && letter[2] <= '\xAF')));
}

std::vector<std::string> folded_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
    const std::string_view letter = text.substr(0, length);
    text.remove_prefix(length);
    if (utf8_length(letter) == 0) {
      end_word();
    } else if (const auto folded = foldings().find(letter); folded != foldings().end()) {
      word += folded->second;
    } else if (is_mark(letter) || is_apostrophe(letter)) {
      continue;
    } else if (!is_part_of_word(letter)) {
      end_word();
    } else if (length == 1 && letter[0] >= 'A' && letter[0] <= 'Z') {
      word += static_cast<char>(letter[0] - 'A' + 'a');
    } else {
      word += letter;
    }
  }
  end_word();
  return words;
}

bool is_number(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// Two letters or more and no digit; one letter of a script beyond Latin can be a name.
bool can_be_name(std::string_view word) {
  return word.size() >= 2 &&
         std::ranges::none_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

std::vector<std::string> without_numbers(std::vector<std::string> words) {
  while (words.size() > 1 && is_number(words.back())) words.pop_back();
  return words;
}

bool is_identifier(const std::vector<std::string>& words) {
  return std::ranges::none_of(words, can_be_name);
}

// A name of a list: its words, and those without the numbers at the end. No words: an identifier.
struct Name {
  std::vector<std::string> words, stem;
};

// Numbers at the end stay where they alone tell names of the list apart.
std::vector<Name> names_of(std::span<const std::string> names, std::int64_t& unnamed) {
  std::vector<Name> result;
  std::map<std::string, std::set<std::string>> by_stem;
  for (const std::string& name : names) {
    std::vector<std::string> words = name_words(name);
    std::vector<std::string> stem = without_numbers(words);
    by_stem[joined(stem)].insert(joined(words));
    result.push_back({std::move(words), std::move(stem)});
  }
  for (Name& n : result) {
    if (is_identifier(n.stem)) {
      ++unnamed;
      n = {};
    } else if (by_stem[joined(n.stem)].size() == 1) {
      n.words = n.stem;
    }
  }
  return result;
}

std::string sorted_key(std::vector<std::string> words) {
  std::ranges::sort(words);
  return joined(words);
}

}  // namespace

std::vector<std::string> name_words(std::string_view name) {
  const std::size_t comma = name.find(',');
  if (comma == std::string_view::npos || name.find(',', comma + 1) != std::string_view::npos)
    return folded_words(name);
  std::vector<std::string> last = folded_words(name.substr(0, comma));
  std::vector<std::string> words = folded_words(name.substr(comma + 1));
  // "Doe, Jane 0002": the number stays at the end.
  auto number = words.end();
  while (number != words.begin() && is_number(*(number - 1))) --number;
  words.insert(number, last.begin(), last.end());
  return words;
}

std::string normalized_name(std::string_view name) {
  const std::vector<std::string> words = without_numbers(name_words(name));
  return is_identifier(words) ? std::string() : joined(words);
}

NameComparison match_names(std::span<const std::string> first,
                           std::span<const std::string> second) {
  NameComparison result;
  const std::vector<Name> a = names_of(first, result.first_unnamed);
  const std::vector<Name> b = names_of(second, result.second_unnamed);
  std::map<std::string, std::vector<std::size_t>> by_stem;
  for (std::size_t j = 0; j < b.size(); ++j)
    if (!b[j].words.empty()) by_stem[sorted_key(b[j].stem)].push_back(j);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].words.empty()) continue;
    const auto found = by_stem.find(sorted_key(a[i].stem));
    if (found == by_stem.end()) continue;
    for (const std::size_t j : found->second) {
      const bool same_words = sorted_key(a[i].words) == sorted_key(b[j].words);
      if (!same_words && a[i].words != a[i].stem && b[j].words != b[j].stem) continue;
      result.matches.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
                                first[i] == second[j]      ? "same"
                                : !same_words              ? "namesake"
                                : a[i].words == b[j].words ? "folded"
                                                           : "reordered"});
    }
  }
  return result;
}

}  // namespace facebench
