/* A text classifier by textodds, in one file of C99 without dependencies (link with -lm).
 *
 *     int predict(const char *text, double *p);
 *
 * writes the probability of each of TEXTODDS_CLASSES classes (textodds_names) to p, and returns the number of the
 * most probable; -1 if there is no memory. predict_bytes takes a length too, so that a text may hold zero bytes. Texts are
 * UTF-8; a byte that is not stands for U+FFFD. Of a model of several labels each probability stands by itself, and
 * a label is given from its threshold on (textodds_thresholds). Nothing is written but p: threads may share it.
 *
 * With -DTEXTODDS_MAIN it is a program: for each line of its input, the label and its probability.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint32_t first, last, value; } Range;
typedef struct { uint32_t character, start, count; } Mapping;
typedef struct { uint32_t first, second, whole; } Pair;

/*{data}*/

int predict(const char *text, double *p);
int predict_bytes(const char *text, size_t length, double *p);

enum { CR = 1, LF, NEWLINE, EXTEND, JOINER }; /* classes of characters that word boundaries name */
enum { SINGLE = 0, BLANK = 7, FIRST_SIGN = 8, LAST_SIGN = 10, BREAK = 12, REWIND = 13 }; /* states of their rules */
enum { CLASS = 31, PICTURE = 32, ALPHANUMERIC = 64, CASED = 128, IGNORED = 256, WORD = 512, SPACE = 1024 };
enum { SYLLABLE = 0xAC00, LEAD = 0x1100, VOWEL = 0x1161, TAIL = 0x11A7, SYLLABLES = 11172 }; /* Hangul */
enum { SIGMA = 0x3A3, SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2, REPLACEMENT = 0xFFFD };

/* Numbers that grow in number; once there is no memory, nothing more is kept. */
typedef struct { uint32_t *at; size_t n, room; int failed; } Numbers;

static void push(Numbers *numbers, uint32_t number)
{
    if (numbers->n == numbers->room) {
        size_t room = numbers->room ? 2 * numbers->room : 256;
        uint32_t *grown = room > SIZE_MAX / sizeof *grown ? NULL : realloc(numbers->at, room * sizeof *grown);
        if (!grown) {
            numbers->failed = 1;
            return;
        }
        numbers->at = grown;
        numbers->room = room;
    }
    numbers->at[numbers->n++] = number;
}

/* Everything that reading a text makes. */
typedef struct {
    Numbers points, other;      /* characters, and a place to make others of them */
    Numbers bytes, edges;       /* what terms are slices of, a byte each, and where they may begin and end */
    Numbers words, characters;  /* terms by number, those of characters beside words by themselves */
    size_t known;
} Reading;

static uint32_t in_ranges(const Range *ranges, size_t n, uint32_t c)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].last < c) low = middle + 1;
        else high = middle;
    }
    return low < n && ranges[low].first <= c ? ranges[low].value : 0;
}

static uint32_t kind_of(uint32_t c) { return in_ranges(KINDS, N_KINDS, c); }
static uint32_t combining(uint32_t c) { return in_ranges(COMBINING, N_COMBINING, c); }
static int is_space(uint32_t c) { return (kind_of(c) & SPACE) != 0; }

/* Appends the characters that stand for one, or itself. */
static void push_mapped(Numbers *out, const Mapping *table, size_t n, const uint32_t *characters, uint32_t c)
{
    size_t low = 0, high = n, i;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].character < c) low = middle + 1;
        else high = middle;
    }
    if (low == n || table[low].character != c) {
        push(out, c);
        return;
    }
    for (i = 0; i < table[low].count; i++) push(out, characters[table[low].start + i]);
}

/* UTF-8 to characters. */
static void decode(const unsigned char *text, size_t length, Numbers *out)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    size_t at = 0;
    while (at < length) {
        unsigned char lead = text[at];
        size_t more = lead < 0x80 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1, i;
        uint32_t c = lead < 0x80 ? lead : lead & (0x3Fu >> more);
        int is_good = lead < 0x80 || (lead >= 0xC2 && lead <= 0xF4 && at + more < length);
        for (i = 1; is_good && i <= more; i++) {
            is_good = (text[at + i] & 0xC0) == 0x80;
            c = c << 6 | (text[at + i] & 0x3Fu);
        }
        if (is_good && (c < least[more] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))) is_good = 0;
        push(out, is_good ? c : REPLACEMENT);
        at += is_good ? more + 1 : 1;
    }
}

static void encode(uint32_t c, Numbers *out)
{
    if (c < 0x80) {
        push(out, c);
        return;
    }
    if (c < 0x800) push(out, 0xC0 | c >> 6);
    else {
        if (c < 0x10000) push(out, 0xE0 | c >> 12);
        else {
            push(out, 0xF0 | c >> 18);
            push(out, 0x80 | (c >> 12 & 0x3F));
        }
        push(out, 0x80 | (c >> 6 & 0x3F));
    }
    push(out, 0x80 | (c & 0x3F));
}

static void swap(Reading *reading)
{
    Numbers made = reading->other;
    reading->other = reading->points;
    reading->points = made;
    reading->other.n = 0;
}

/* Sorts the marks of a run by their class, those of one class as they were; characters are in `other`. */
static void order_marks(Reading *reading, size_t start, size_t end)
{
    uint32_t *marks = reading->other.at, class_;
    size_t i;
    for (i = start + 1; i < end && combining(marks[i - 1]) <= combining(marks[i]);) i++;
    if (i >= end) return;
    reading->bytes.n = 0;
    for (class_ = 0; class_ < 256; class_++) {
        for (i = start; i < end; i++) if (combining(marks[i]) == class_) push(&reading->bytes, marks[i]);
    }
    if (!reading->bytes.failed) memcpy(marks + start, reading->bytes.at, (end - start) * sizeof *marks);
    reading->bytes.n = 0;
}

/* Decomposes characters, and brings marks into their order. */
static void take_apart(Reading *reading, int is_compatible)
{
    Numbers *out = &reading->other;
    size_t i, j;
    for (i = 0; i < reading->points.n; i++) {
        uint32_t c = reading->points.at[i], place = c - SYLLABLE;
        if (c >= SYLLABLE && place < SYLLABLES) {
            push(out, LEAD + place / 588);
            push(out, VOWEL + place % 588 / 28);
            if (place % 28) push(out, TAIL + place % 28);
        } else if (is_compatible) push_mapped(out, COMPATIBLE, N_COMPATIBLE, COMPATIBLE_TO, c);
        else push_mapped(out, CANONICAL, N_CANONICAL, CANONICAL_TO, c);
    }
    for (i = 0; i < out->n; i = j) {
        for (j = i + 1; j < out->n && combining(out->at[j]);) j++;
        order_marks(reading, i, j);
    }
    swap(reading);
}

/* What two characters compose to; 0 if to nothing. */
static uint32_t composed(uint32_t first, uint32_t second)
{
    size_t low = 0, high = N_COMPOSED;
    if (first >= LEAD && first < LEAD + 19 && second >= VOWEL && second < VOWEL + 21) {
        return SYLLABLE + ((first - LEAD) * 21 + second - VOWEL) * 28;
    }
    if (first >= SYLLABLE && first - SYLLABLE < SYLLABLES && (first - SYLLABLE) % 28 == 0 && second > TAIL
        && second < TAIL + 28) {
        return first + second - TAIL;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const Pair *pair = &COMPOSED[middle];
        if (pair->first < first || (pair->first == first && pair->second < second)) low = middle + 1;
        else high = middle;
    }
    if (low < N_COMPOSED && COMPOSED[low].first == first && COMPOSED[low].second == second) return COMPOSED[low].whole;
    return 0;
}

/* Composes each character with the last letter, unless another mark stands between. */
static void put_together(Reading *reading)
{
    Numbers *out = &reading->other;
    size_t i, start = 0;
    uint32_t last = 0;
    int has_start = 0;
    for (i = 0; i < reading->points.n && !out->failed; i++) {
        uint32_t c = reading->points.at[i], own = combining(c), whole = 0;
        if (has_start && (last < own || start + 1 == out->n)) whole = composed(out->at[start], c);
        if (whole) {
            out->at[start] = whole;
            continue;
        }
        if (!own) {
            start = out->n;
            has_start = 1;
        }
        last = own;
        push(out, c);
    }
    swap(reading);
}

/* Whether the next character that is not passed over, forwards or backwards, has a case. */
static int meets_letter(const Numbers *points, size_t at, int is_forward)
{
    for (;;) {
        uint32_t kind;
        if (is_forward ? at + 1 >= points->n : at == 0) return 0;
        at = is_forward ? at + 1 : at - 1;
        kind = kind_of(points->at[at]);
        if (!(kind & IGNORED)) return (kind & CASED) != 0;
    }
}

static void lower_case(Reading *reading)
{
    const Numbers *points = &reading->points;
    size_t i;
    for (i = 0; i < points->n; i++) {
        if (points->at[i] == SIGMA) { /* final behind a letter and before none */
            int is_final = meets_letter(points, i, 0) && !meets_letter(points, i, 1);
            push(&reading->other, is_final ? FINAL_SIGMA : SMALL_SIGMA);
        } else push_mapped(&reading->other, LOWER, N_LOWER, LOWER_TO, points->at[i]);
    }
    swap(reading);
}

static void prepare(Reading *reading)
{
    size_t i;
    if (FORM) {
        take_apart(reading, FORM == 2);
        put_together(reading);
    }
    if (LOWERS) lower_case(reading);
    if (!ACCENTS) return;
    take_apart(reading, 1);
    for (i = 0; i < reading->points.n; i++) {
        uint32_t c = reading->points.at[i];
        if (ACCENTS == 2 ? c < 0x80 : !combining(c)) push(&reading->other, c);
    }
    swap(reading);
}

/* A word of the model against a slice of bytes behind a mark (0 for none), as memcmp. */
static int compared(uint32_t word, const uint32_t *bytes, size_t n, uint32_t mark)
{
    size_t length = WORD_STARTS[word + 1] - WORD_STARTS[word], i;
    const unsigned char *own = WORDS + WORD_STARTS[word];
    size_t before = mark ? 1 : 0;
    for (i = 0; i < length && i < n + before; i++) {
        uint32_t other = i < before ? mark : bytes[i - before];
        if (own[i] != other) return own[i] < other ? -1 : 1;
    }
    return length == n + before ? 0 : length < n + before ? -1 : 1;
}

/* Notes the term that is a slice of bytes. */
static void note(Reading *reading, size_t from, size_t to, uint32_t mark)
{
    Numbers *terms = mark && BLOCKS == 2 ? &reading->characters : &reading->words;
    uint32_t low = 0, high = TERMS;
    if (reading->bytes.failed) return;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compared(middle, reading->bytes.at + from, to - from, mark) < 0) low = middle + 1;
        else high = middle;
    }
    if (low < TERMS && compared(low, reading->bytes.at + from, to - from, mark) == 0) {
        if (!HAS_UNKNOWN || low != UNKNOWN) reading->known++;
        push(terms, low);
    } else if (HAS_UNKNOWN) push(terms, UNKNOWN);
}

/* Appends characters as bytes, an edge before each. */
static void push_bytes(Reading *reading, size_t from, size_t to)
{
    for (; from < to; from++) {
        push(&reading->edges, (uint32_t)reading->bytes.n);
        encode(reading->points.at[from], &reading->bytes);
    }
}

/* Notes runs of first to last characters between the edges; a stretch that is shorter is one, if `is_word`. */
static void note_runs(Reading *reading, size_t first, size_t last, int is_word, uint32_t mark)
{
    size_t length, n, i;
    push(&reading->edges, (uint32_t)reading->bytes.n);
    if (reading->edges.failed) return;
    length = reading->edges.n - 1;
    if (is_word && first > length) first = length;
    for (n = first; n <= last && n <= length; n++) {
        for (i = 0; i + n <= length; i++) note(reading, reading->edges.at[i], reading->edges.at[i + n], mark);
    }
}

static void note_in_words(Reading *reading, size_t first, size_t last, uint32_t mark)
{
    size_t start = 0, end;
    for (; start < reading->points.n; start = end) {
        int space = is_space(reading->points.at[start]);
        for (end = start + 1; end < reading->points.n && is_space(reading->points.at[end]) == space;) end++;
        if (space) continue;
        reading->bytes.n = reading->edges.n = 0;
        push(&reading->edges, 0);
        push(&reading->bytes, ' ');
        push_bytes(reading, start, end);
        push(&reading->edges, (uint32_t)reading->bytes.n);
        push(&reading->bytes, ' ');
        note_runs(reading, first, last, 1, mark);
    }
}

/* The whole text, white space of several characters made one space. */
static void note_characters(Reading *reading)
{
    size_t start = 0, end;
    for (; start < reading->points.n; start = end) {
        int space = is_space(reading->points.at[start]);
        for (end = start + 1; space && end < reading->points.n && is_space(reading->points.at[end]);) end++;
        if (end - start > 1) {
            push(&reading->edges, (uint32_t)reading->bytes.n);
            push(&reading->bytes, ' ');
        } else push_bytes(reading, start, end);
    }
    note_runs(reading, FIRST_GRAM, LAST_GRAM, 0, 0);
}

/* Where the segment that begins at `start` ends: Unicode Standard Annex #29. Kinds are in `other`. */
static size_t segment_end(const Numbers *kinds, size_t start)
{
    uint32_t own = kinds->at[start] & CLASS, state = RULES[BREAK][own];
    size_t sign = start, at;
    int has_marks = 0;
    if (own == CR && start + 1 < kinds->n && (kinds->at[start + 1] & CLASS) == LF) return start + 2;
    if (own == CR || own == LF || own == NEWLINE) return start + 1;
    for (at = start + 1; at < kinds->n; at++) {
        uint32_t after;
        own = kinds->at[at] & CLASS;
        if (own == EXTEND || own == JOINER) {
            has_marks = 1;
            continue;
        }
        if (kinds->at[at] & PICTURE && (kinds->at[at - 1] & CLASS) == JOINER) {
            state = SINGLE;
            continue;
        }
        after = RULES[state][own];
        if (after == BREAK || (state == BLANK && has_marks)) return at;
        if (after == REWIND) return sign;
        if (after >= FIRST_SIGN && after <= LAST_SIGN) sign = at;
        state = after;
    }
    return state >= FIRST_SIGN && state <= LAST_SIGN ? sign : kinds->n;
}

static int belongs(uint32_t c)
{
    if (SET == 0) return (kind_of(c) & WORD) != 0;
    if (SET == 1) return !is_space(c);
    return c < 128 && ASCII_SET[c];
}

/* Where the run that begins at `start` ends, and whether it is a token. */
static size_t run_end(const Numbers *points, size_t start, int *is_token)
{
    size_t end = start, i;
    int within = WHOLE ? (kind_of(points->at[start]) & WORD) != 0 : belongs(points->at[start]);
    do end++; while (end < points->n && (WHOLE ? (kind_of(points->at[end]) & WORD) != 0 : belongs(points->at[end])) == within);
    *is_token = within && end - start >= LEAST;
    for (i = start; WHOLE && *is_token && i < end; i++) *is_token = belongs(points->at[i]);
    return end;
}

static int is_stop_word(const uint32_t *bytes, size_t n)
{
    size_t word, i;
    for (word = 0; word < N_STOP_WORDS; word++) {
        size_t length = STOP_STARTS[word + 1] - STOP_STARTS[word];
        for (i = 0; i < n && i < length && STOP_WORDS[STOP_STARTS[word] + i] == bytes[i];) i++;
        if (length == n && i == n) return 1;
    }
    return 0;
}

/* Appends a token, one space behind it, unless it is a stop word; edges are where tokens begin. */
static void push_token(Reading *reading, size_t start, size_t end)
{
    size_t from = reading->bytes.n, i;
    for (i = start; i < end; i++) encode(reading->points.at[i], &reading->bytes);
    if (reading->bytes.failed) return;
    if (N_STOP_WORDS && is_stop_word(reading->bytes.at + from, reading->bytes.n - from)) {
        reading->bytes.n = from;
        return;
    }
    push(&reading->edges, (uint32_t)from);
    push(&reading->bytes, ' ');
}

/* Tokens stand one behind the other, one space between: an n-gram is a slice of them. */
static void note_tokens(Reading *reading)
{
    size_t start, end, n, i, tokens;
    int is_token;
    reading->other.n = 0;
    for (i = 0; UNIT == 0 && i < reading->points.n; i++) push(&reading->other, kind_of(reading->points.at[i]));
    if (reading->other.failed) return;
    for (start = 0; start < reading->points.n; start = end) {
        if (UNIT == 0) {
            end = segment_end(&reading->other, start);
            for (is_token = 0, i = start; i < end; i++) is_token |= (reading->other.at[i] & ALPHANUMERIC) != 0;
        } else end = run_end(&reading->points, start, &is_token);
        if (is_token) push_token(reading, start, end);
    }
    tokens = reading->edges.n;
    push(&reading->edges, (uint32_t)reading->bytes.n);
    if (reading->edges.failed) return;
    for (n = FIRST_GRAM; n <= LAST_GRAM && n <= tokens; n++) {
        for (i = 0; i + n <= tokens; i++) note(reading, reading->edges.at[i], reading->edges.at[i + n] - 1, 0);
    }
    if (LAST_BESIDE) note_in_words(reading, FIRST_BESIDE, LAST_BESIDE, '~');
}

static int by_number(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return a < b ? -1 : a > b;
}

static double worth(uint32_t term, size_t n)
{
    double x = PRESENCE || FREQUENCY == 2 ? 1.0 : (double)n;
    if (FREQUENCY == 1 && n > 1) x = 1.0 + log((double)n);
    return HAS_SCALE ? x * SCALE[term] : x;
}

static void add_row(uint32_t term, double x, double *scores)
{
    size_t k;
    if (IS_DENSE) {
        for (k = 0; k < TEXTODDS_CLASSES; k++) scores[k] += x * WEIGHTS[(size_t)term * TEXTODDS_CLASSES + k];
        return;
    }
    for (k = 0; k < TEXTODDS_CLASSES; k++) scores[k] += x * (DEFAULT[k] + (HAS_BASE ? SLOPE[k] * BASE[term] : 0.0));
    for (k = CELL_STARTS[term]; k < CELL_STARTS[term + 1]; k++) scores[CLASS_OF[k]] += x * WEIGHTS[k];
}

/* Adds what a block of terms is worth. */
static void add_block(Numbers *terms, double *scores)
{
    size_t start, end;
    double total = 0.0, length = 1.0;
    int is_adding;
    if (!terms->n) return;
    qsort(terms->at, terms->n, sizeof *terms->at, by_number);
    for (is_adding = !NORM; is_adding < 2; is_adding++) {
        for (start = 0; start < terms->n; start = end) {
            double x;
            for (end = start + 1; end < terms->n && terms->at[end] == terms->at[start];) end++;
            x = worth(terms->at[start], end - start);
            if (is_adding) add_row(terms->at[start], x / length, scores);
            else total += NORM == 1 ? fabs(x) : x * x;
        }
        if (total > 0.0) length = NORM == 1 ? total : sqrt(total * BLOCKS);
    }
}

/* Scores to probabilities; the number of the greatest. */
static int to_probabilities(double *p)
{
    size_t k, best = 0;
    double total = 0.0, most;
    for (k = 1; k < TEXTODDS_CLASSES; k++) best = p[k] > p[best] ? k : best;
    most = p[best];
    for (k = 0; k < TEXTODDS_CLASSES; k++) {
        if (SEVERAL) p[k] = p[k] >= 0.0 ? 1.0 / (1.0 + exp(-p[k])) : exp(p[k]) / (1.0 + exp(p[k]));
        else total += p[k] = exp(p[k] - most);
    }
    for (k = 0; !SEVERAL && k < TEXTODDS_CLASSES; k++) p[k] /= total;
    return (int)best;
}

int predict_bytes(const char *text, size_t length, double *p)
{
    Reading reading;
    int failed;
    memset(&reading, 0, sizeof reading);
    decode((const unsigned char *)text, length, &reading.points);
    prepare(&reading);
    if (UNIT == 2) note_characters(&reading);
    else if (UNIT == 3) note_in_words(&reading, FIRST_GRAM, LAST_GRAM, 0);
    else note_tokens(&reading);
    failed = reading.points.failed || reading.other.failed || reading.bytes.failed || reading.edges.failed
        || reading.words.failed || reading.characters.failed;
    memcpy(p, reading.known ? BIAS : PRIOR, TEXTODDS_CLASSES * sizeof *p);
    if (!failed && !(SEVERAL && !reading.known)) {
        add_block(&reading.words, p);
        add_block(&reading.characters, p);
    }
    free(reading.points.at);
    free(reading.other.at);
    free(reading.bytes.at);
    free(reading.edges.at);
    free(reading.words.at);
    free(reading.characters.at);
    return failed ? -1 : to_probabilities(p);
}

int predict(const char *text, double *p) { return predict_bytes(text, strlen(text), p); }

#ifdef TEXTODDS_MAIN
#include <stdio.h>

static int answer(const char *line, size_t length)
{
    static double p[TEXTODDS_CLASSES];
    int k = predict_bytes(line, length, p);
    if (k < 0) return 0;
    fwrite(textodds_names[k], 1, textodds_lengths[k], stdout);
    printf("\t%.17g\n", p[k]);
    return 1;
}

int main(void)
{
    size_t n = 0, room = 4096;
    char *line = malloc(room);
    int c, is_well = line != NULL;
    while (is_well && (c = getchar()) != EOF) {
        if (c == '\n') {
            is_well = answer(line, n);
            n = 0;
            continue;
        }
        if (n == room) {
            char *grown = realloc(line, room *= 2);
            if (!grown) return 1;
            line = grown;
        }
        line[n++] = (char)c;
    }
    if (is_well && n) is_well = answer(line, n);
    free(line);
    return is_well ? 0 : 1;
}
#endif
