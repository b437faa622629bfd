import type { JsonObject } from '@carillon/kernel';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { ReadingDatabase } from './support/reading-database.ts';

/** Type, value in SQL, and the value in `event`. */
const COLUMNS: readonly (readonly [string, string, unknown])[] = [
  ['smallint', '-32768', -32_768],
  ['integer', '2147483647', 2_147_483_647],
  ['bigint', '9007199254740993', 9_007_199_254_740_993n],
  ['bigint', '42', 42],
  ['numeric(12,2)', '12.50', 12.5],
  ['numeric', '10.000', 10],
  ['numeric', '0.1234567890123456789', '0.1234567890123456789'],
  ['numeric', '18446744073709551617', '18446744073709551617'],
  ['numeric', "'NaN'", 'NaN'],
  ['numeric', "'-Infinity'", '-Infinity'],
  ['real', '0.1', 0.1],
  ['double precision', '0.30000000000000004', 0.300_000_000_000_000_04],
  ['double precision', "'Infinity'", 'Infinity'],
  ['boolean', 'true', true],
  ['text', "'Grüße 🐘'", 'Grüße 🐘'],
  ['text', String.raw`U&'\FEFFmark'`, '\uFEFFmark'],
  ['text', "'null'", 'null'],
  ['varchar(10)', "''", ''],
  ['char(5)', "'ab'", 'ab   '],
  ['uuid', "'0D9AB8C4-0D2A-4E9A-9E3A-5E0F6C6F8E55'", '0d9ab8c4-0d2a-4e9a-9e3a-5e0f6c6f8e55'],
  ['timestamptz', "'2026-03-29 02:30:00.123456+02'", '2026-03-29T00:30:00.123456Z'],
  ['timestamptz', "'infinity'", 'infinity'],
  ['timestamptz', "'294276-12-31 23:59:59.999999+00'", '294276-12-31 23:59:59.999999+00'],
  ['timestamp', "'2026-03-29 02:30:00.5'", '2026-03-29T02:30:00.5'],
  ['date', "'2026-03-29'", '2026-03-29'],
  ['date', "'0044-03-15 BC'", '0044-03-15 BC'],
  ['time', "'23:59:59.999999'", '23:59:59.999999'],
  ['timetz', "'23:59:59+02'", '23:59:59+02'],
  ['interval', "'1 day 2 hours'", 'P1DT2H'],
  ['bytea', String.raw`'\x48656c6c6f'`, 'SGVsbG8='],
  ['json', `'{"a": 1.50, "b": [9007199254740993]}'`, { a: 1.5, b: [9_007_199_254_740_993n] }],
  ['json', `'{"a":1,"a":2}'`, '{"a":1,"a":2}'],
  ['jsonb', `'{"b":null}'`, { b: null }],
  ['jsonb', "'0.12345678901234567890'", '0.12345678901234567890'],
  ['integer[]', "'{1,NULL,3}'", [1, null, 3]],
  ['integer[]', "'[0:1]={7,8}'", [7, 8]],
  [
    'integer[]',
    "'{{1,2},{3,4}}'",
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['text[]', `'{"a,b","c\\"d","NULL",NULL,""}'`, ['a,b', 'c"d', 'NULL', null, '']],
  ['text[]', "'{}'", []],
  ['timestamptz[]', "'{2026-03-29 00:30:00+00}'", ['2026-03-29T00:30:00Z']],
  ['jsonb[]', `ARRAY['{"a":"x,y"}'::jsonb]`, [{ a: 'x,y' }]],
  ['box[]', "'{(1,1),(0,0);(3,3),(2,2)}'", ['(1,1),(0,0)', '(3,3),(2,2)']],
  ['inet', "'10.0.0.1/8'", '10.0.0.1/8'],
  ['int4range', "'[1,5)'", '[1,5)'],
  ['money', '12.50', '$12.50'],
  ['bit(3)', "B'101'", '101'],
  ['xml', "'<a/>'", '<a/>'],
  ['int2vector', "'1 2'", '1 2'],
  ['mood', "'sad'", 'sad'],
  ['mood[]', "'{sad,ok}'", ['sad', 'ok']],
  ['price', '12.50', 12.5],
  ['price[]', "'{12.50}'", [12.5]],
  ['lines', "'{1,2}'", [1, 2]],
  ['point3', "'(1,2)'", '(1,2)'],
];

/** Settings that shape the text of values unless the session overrides them. */
const SETTINGS = [
  "timezone = 'America/New_York'",
  "datestyle = 'SQL, DMY'",
  "intervalstyle = 'postgres'",
  "bytea_output = 'escape'",
  'extra_float_digits = 0',
];

describeWith('postgres', 'column values read from PostgreSQL', () => {
  let database: ReadingDatabase;
  beforeEach(async () => {
    database = await ReadingDatabase.create((await sharedServer('postgres')).url);
  });
  afterEach(() => database.drop());

  it('are exact, whatever the database settings', async () => {
    await database.run("CREATE TYPE mood AS ENUM ('sad', 'ok')");
    await database.run('CREATE DOMAIN price AS numeric(12,2)');
    await database.run('CREATE DOMAIN lines AS integer[]');
    await database.run('CREATE TYPE point3 AS (x int, y int)');
    for (const setting of SETTINGS) await database.run(`ALTER DATABASE ${database.database.name} SET ${setting}`);
    const columns = COLUMNS.map(([type], index) => `c${index} ${type}`);
    await database.run(`CREATE TABLE typed (id int PRIMARY KEY, ${columns.join(', ')})`);
    await database.open(['public.typed']);
    await database.run(`INSERT INTO typed VALUES (1, ${COLUMNS.map(([, sql]) => sql).join(', ')})`);
    await database.run('INSERT INTO typed (id) VALUES (2)');
    await database.run("ALTER TYPE mood ADD VALUE 'new'");
    await database.run(`UPDATE typed SET c${COLUMNS.findIndex(([type]) => type === 'mood')} = 'new' WHERE id = 2`);
    await database.log.waitForRows(3);
    const [full, empty, grown] = database.log.changes.map(({ change }) => change.event) as [
      JsonObject,
      JsonObject,
      JsonObject,
    ];
    COLUMNS.forEach(([type, sql, value], index) => {
      expect(full[`c${index}`], `${type} ${sql}`).toEqual(value);
      expect(empty[`c${index}`]).toBeNull();
    });
    expect(Object.values(grown)).toContain('new');
  });
});
