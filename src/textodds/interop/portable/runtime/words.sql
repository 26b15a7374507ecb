-- Words after Unicode Standard Annex #29. Marks belong to the character before them, unless that ends a line.
classed AS (
  SELECT prepared.id, prepared.pos, prepared.c, kinds.kind, kinds.kind & 31 AS class,
    lag(kinds.kind & 31, 1, 3) OVER (PARTITION BY prepared.id ORDER BY prepared.pos) AS before
  FROM prepared JOIN kinds ON kinds.c = prepared.c
),
united AS (
  SELECT id, pos, c, kind, class,
    sum(CASE WHEN class IN (4, 5) AND before NOT IN (1, 2, 3) THEN 0 ELSE 1 END)
      OVER (PARTITION BY id ORDER BY pos ROWS UNBOUNDED PRECEDING) AS unit
  FROM classed
),
bases AS (
  SELECT id, unit, min(pos) AS first, max(pos) AS last FROM united GROUP BY id, unit
),
units AS (
  SELECT bases.id, bases.unit, CASE WHEN b.class IN (4, 5) THEN 0 ELSE b.class END AS class,
    CASE WHEN b.kind & 32 <> 0 THEN 1 ELSE 0 END AS picture,
    CASE WHEN bases.last > bases.first THEN 1 ELSE 0 END AS marked,
    CASE WHEN e.class = 5 THEN 1 ELSE 0 END AS joins
  FROM bases JOIN united AS b ON b.id = bases.id AND b.pos = bases.first
  JOIN united AS e ON e.id = bases.id AND e.pos = bases.last
),
joined AS (
  SELECT id, unit, marked,
    CASE WHEN picture = 1 AND lag(joins, 1, 0) OVER (PARTITION BY id ORDER BY unit) = 1 THEN 1 ELSE 0 END AS follows,
    class
  FROM units
),
settled AS (
  SELECT id, unit, marked, follows, CASE WHEN follows = 1 THEN 0 ELSE class END AS class,
    sum(CASE WHEN class = 6 THEN 0 ELSE 1 END) OVER (PARTITION BY id ORDER BY unit ROWS UNBOUNDED PRECEDING) AS island
  FROM joined
),
neighbours AS (
  SELECT id, unit, follows, class AS c,
    row_number() OVER (PARTITION BY id, island ORDER BY unit) AS in_island, island,
    lag(class, 1, 3) OVER (PARTITION BY id ORDER BY unit) AS p,
    lag(class, 2, 3) OVER (PARTITION BY id ORDER BY unit) AS pp,
    lag(marked, 1, 0) OVER (PARTITION BY id ORDER BY unit) AS p_marked,
    CASE WHEN lead(follows, 1, 0) OVER (PARTITION BY id ORDER BY unit) = 1 THEN -1
      ELSE lead(class, 1, 3) OVER (PARTITION BY id ORDER BY unit) END AS next
  FROM settled
),
segmented AS (
  SELECT id, unit, sum(CASE
      WHEN p = 1 AND c = 2 THEN 0
      WHEN p IN (1, 2, 3) OR c IN (1, 2, 3) THEN 1
      WHEN follows = 1 THEN 0
      WHEN p = 17 AND c = 17 AND p_marked = 0 THEN 0
      WHEN p IN (8, 9) AND c IN (8, 9) THEN 0
      WHEN p IN (8, 9) AND c IN (10, 12, 13) AND next IN (8, 9, -1) THEN 0
      WHEN pp IN (8, 9) AND p IN (10, 12, 13) AND c IN (8, 9) THEN 0
      WHEN p = 8 AND c = 10 THEN 0
      WHEN p = 8 AND c = 11 AND next IN (8, -1) THEN 0
      WHEN pp = 8 AND p = 11 AND c = 8 THEN 0
      WHEN p IN (8, 9, 15) AND c IN (8, 9, 15) THEN 0
      WHEN p = 15 AND c IN (10, 12, 14) AND next IN (15, -1) THEN 0
      WHEN pp = 15 AND p IN (10, 12, 14) AND c = 15 THEN 0
      WHEN p = 7 AND c = 7 THEN 0
      WHEN p IN (7, 8, 9, 15, 16) AND c = 16 THEN 0
      WHEN p = 16 AND c IN (7, 8, 9, 15) THEN 0
      WHEN p = 6 AND c = 6 AND (CASE WHEN island = 0 THEN in_island ELSE in_island - 1 END) % 2 = 0 THEN 0
      ELSE 1 END) OVER (PARTITION BY id ORDER BY unit ROWS UNBOUNDED PRECEDING) AS token
  FROM neighbours
),
-- Each character has the token of its unit: a window finds it, where SQLite would join in quadratic time.
placed AS (
  SELECT id, pos, c, token, counts FROM (
    SELECT id, pos, c, max(token) OVER (PARTITION BY id, unit) AS token, counts FROM (
      SELECT id, unit, NULL AS pos, NULL AS c, token, NULL AS counts FROM segmented
      UNION ALL
      SELECT id, unit, pos, c, NULL, CASE WHEN kind & 64 <> 0 THEN 1 ELSE 0 END FROM united) AS units_and_characters
    ) AS told
  WHERE pos IS NOT NULL
),
words AS ({strings}),
