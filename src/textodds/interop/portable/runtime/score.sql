-- The label and the probability of every class for each row of {p}_texts.
-- A text becomes characters, these are brought into normal form and lower case, cut into words, joined to terms,
-- counted, weighed and added up: one table after the other, each named by what it holds.

CREATE VIEW {p}_terms_found AS
WITH RECURSIVE
characters AS ({characters}),
apart AS {kept} (
  SELECT characters.id, characters.pos, coalesce(d.n, 0) AS n, coalesce(d.becomes, characters.c) AS c
  FROM characters LEFT JOIN {p}_decompositions AS d ON d.c = characters.c
),
marks AS {kept} (
  SELECT each.c, coalesce(max(m.value), 0) AS class,
    CASE WHEN max(m.value) IS NOT NULL OR max(pair.second) IS NOT NULL
      OR (each.c BETWEEN 4449 AND 4469) OR (each.c BETWEEN 4520 AND 4546) THEN 0 ELSE 1 END AS begins
  FROM (SELECT DISTINCT c FROM apart) AS each
  LEFT JOIN {p}_marks AS m ON each.c BETWEEN m.first AND m.last
  LEFT JOIN (SELECT DISTINCT second FROM {p}_pairs) AS pair ON pair.second = each.c
  GROUP BY each.c
),
lettered AS (
  SELECT apart.id, apart.pos, apart.n, apart.c, marks.class, marks.begins,
    sum(CASE WHEN marks.class = 0 THEN 1 ELSE 0 END) OVER (PARTITION BY apart.id ORDER BY apart.pos, apart.n
      ROWS UNBOUNDED PRECEDING) AS letter
  FROM apart JOIN marks ON marks.c = apart.c
),
ordered AS (
  SELECT id, c, class, begins, row_number() OVER (PARTITION BY id ORDER BY letter, class, pos, n) AS pos FROM lettered
),
grouped AS (
  SELECT id, c, class, pos,
    sum(begins) OVER (PARTITION BY id ORDER BY pos ROWS UNBOUNDED PRECEDING) AS cluster FROM ordered
),
clusters AS {kept} (
  SELECT id, cluster, c, class, row_number() OVER (PARTITION BY id, cluster ORDER BY pos) AS m FROM grouped
),
-- Each character composes with the last letter of its cluster, unless another mark stands between.
composing(id, cluster, m, letter, letter_at, last, is_next, mark) AS (
  SELECT id, cluster, m, CASE WHEN class = 0 THEN c END, CASE WHEN class = 0 THEN m END, class,
    CASE WHEN class = 0 THEN 1 ELSE 0 END, CASE WHEN class <> 0 THEN c END
  FROM clusters WHERE m = 1
  UNION ALL
  SELECT b.id, b.cluster, n.m,
    coalesce({composition}, CASE WHEN n.class = 0 THEN n.c ELSE b.letter END),
    CASE WHEN {composition} IS NULL AND n.class = 0 THEN n.m ELSE b.letter_at END,
    CASE WHEN {composition} IS NULL THEN n.class ELSE b.last END,
    CASE WHEN {composition} IS NULL THEN CASE WHEN n.class = 0 THEN 1 ELSE 0 END ELSE b.is_next END,
    CASE WHEN {composition} IS NULL AND n.class <> 0 THEN n.c END
  FROM composing AS b
  JOIN clusters AS n ON n.id = b.id AND n.cluster = b.cluster AND n.m = b.m + 1
  LEFT JOIN {p}_pairs AS pair ON pair.first = b.letter AND pair.second = n.c
),
composed AS (
  SELECT id, cluster, letter_at AS m, letter AS c FROM (
    SELECT id, cluster, letter_at, letter,
      row_number() OVER (PARTITION BY id, cluster, letter_at ORDER BY m DESC) AS place
    FROM composing WHERE letter IS NOT NULL) AS settled
  WHERE place = 1
  UNION ALL
  SELECT id, cluster, m, mark FROM composing WHERE mark IS NOT NULL
),
normal AS {kept} (
  SELECT id, row_number() OVER (PARTITION BY id ORDER BY cluster, m) AS pos, c FROM composed
),
-- A capital sigma is final behind a letter and before none, characters that are passed over left out.
cased AS (
  SELECT normal.id, normal.pos, normal.c, coalesce(max(k.value), 0) AS kind
  FROM normal LEFT JOIN {p}_kinds AS k ON normal.c BETWEEN k.first AND k.last
  WHERE normal.id IN (SELECT id FROM normal WHERE c = 931)
  GROUP BY normal.id, normal.pos, normal.c
),
sigmas AS (
  SELECT id, pos, c,
    lag(kind & 128, 1, 0) OVER (PARTITION BY id ORDER BY pos) AS before,
    lead(kind & 128, 1, 0) OVER (PARTITION BY id ORDER BY pos) AS after
  FROM cased WHERE kind & 256 = 0
),
lowered AS (
  SELECT normal.id, normal.pos, coalesce(l.n, 0) AS n,
    CASE WHEN normal.c = 931 AND (normal.id, normal.pos) IN (SELECT id, pos FROM sigmas WHERE before <> 0 AND after = 0)
      THEN 962 ELSE coalesce(l.becomes, normal.c) END AS c
  FROM normal LEFT JOIN {p}_lower AS l ON l.c = normal.c
),
prepared AS {kept} (
  SELECT id, row_number() OVER (PARTITION BY id ORDER BY pos, n) AS pos, c FROM lowered
),
kinds AS {kept} (
  SELECT c, coalesce((SELECT max(k.value) FROM {p}_kinds AS k WHERE each.c BETWEEN k.first AND k.last), 0) AS kind
  FROM (SELECT DISTINCT c FROM prepared) AS each
),
{tokens}
tokens AS {kept} (
  SELECT id, word, row_number() OVER (PARTITION BY id ORDER BY token) AS place
  FROM words WHERE word NOT IN (SELECT word FROM {p}_stop_words)
),
found AS (
{grams}
)
SELECT id, term FROM found;

CREATE VIEW {p}_probabilities AS
WITH
numbered AS (
  SELECT f.id, coalesce(t.number, {unknown}) AS number FROM {p}_terms_found AS f
  LEFT JOIN {p}_terms AS t ON t.term = f.term
),
counted AS (
  SELECT id, number, count(*) AS n FROM numbered WHERE number IS NOT NULL GROUP BY id, number
),
weighed AS (
  SELECT counted.id, counted.number, {worth} AS x, t.base FROM counted JOIN {p}_terms AS t ON t.number = counted.number
),
lengths AS (
  SELECT id, {length} AS length FROM weighed GROUP BY id
),
valued AS {kept} (
  SELECT weighed.id, weighed.number, weighed.base,
    CASE WHEN lengths.length > 0 THEN weighed.x / lengths.length ELSE weighed.x END AS x
  FROM weighed JOIN lengths ON lengths.id = weighed.id
),
totals AS (
  SELECT id, sum(x) AS total, sum(x * base) AS based FROM valued GROUP BY id
),
added AS (
  SELECT valued.id, w.class, sum(valued.x * w.weight) AS score
  FROM valued JOIN {p}_weights AS w ON w.number = valued.number GROUP BY valued.id, w.class
),
known AS (
  SELECT DISTINCT id FROM counted WHERE {is_known}
),
scored AS (
  SELECT texts.id, classes.class, classes.label, classes.threshold,
    CASE WHEN known.id IS NULL THEN classes.prior ELSE classes.bias
      + coalesce(totals.total, 0) * classes.usual + coalesce(totals.based, 0) * classes.slope
      + coalesce(added.score, 0) END AS score
  FROM {p}_texts AS texts CROSS JOIN {p}_classes AS classes
  LEFT JOIN known ON known.id = texts.id
  LEFT JOIN totals ON totals.id = texts.id
  LEFT JOIN added ON added.id = texts.id AND added.class = classes.class
),
shares AS (
  SELECT id, class, label, threshold, {share} AS share FROM (
    SELECT id, class, label, threshold, score, max(score) OVER (PARTITION BY id) AS most FROM scored) AS s
)
SELECT id, class, label, threshold, share / {total} AS probability FROM shares;

CREATE VIEW {p}_predictions AS
SELECT id, label, probability FROM (
  SELECT id, label, probability, threshold,
    row_number() OVER (PARTITION BY id ORDER BY probability DESC, class) AS place
  FROM {p}_probabilities) AS ranked
WHERE {is_given};
