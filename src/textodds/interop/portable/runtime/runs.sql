-- Runs of {least} or more characters of a kind.
classed AS (
  SELECT prepared.id, prepared.pos, prepared.c, CASE WHEN {belongs} THEN 1 ELSE 0 END AS belongs
  FROM prepared JOIN kinds ON kinds.c = prepared.c
),
placed AS (
  SELECT id, pos, c, belongs AS counts,
    sum(1 - belongs) OVER (PARTITION BY id ORDER BY pos ROWS UNBOUNDED PRECEDING) AS token
  FROM classed
),
words AS ({strings}),
