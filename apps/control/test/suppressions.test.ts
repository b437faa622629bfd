import { readTable } from '../src/csv/read-table.ts';
import { createCsvReader, unguardedCell } from '@carillon/kernel';
import type { SuppressionList } from '@carillon/ports';
import { createDirectWire, createMemorySuppressions } from '@carillon/testing/memory';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entry, openSuppressions, SHOP, sourcesOf } from './suppressions-fixture.ts';

let suppressions: SuppressionList;
let fixture: Awaited<ReturnType<typeof openSuppressions>>;
const open = async (list: SuppressionList): Promise<void> => {
  fixture = await openSuppressions(list);
};
beforeEach(async () => {
  suppressions = createMemorySuppressions().connect(createDirectWire());
  await open(suppressions);
});
afterEach(() => fixture.close());

const get = (query: string) => fixture.get(query);
const post = (path: string, body: object) => fixture.post(path, body);
const importing = (csv: string, query?: string) => fixture.importing(csv, query);
const exported = (query?: string, at?: string) => fixture.exported(query, at);

const TOKEN = 'T:ok'.padEnd(4096, 'x');

describe('The list of suppressed addresses', () => {
  beforeEach(async () => {
    const entries = [
      entry('ada@bücher.example'),
      entry('ada@bücher.example', { source: 'complaint' }),
      entry('+4930123456', { channel: 'sms', source: 'stop' }),
      entry(TOKEN, { channel: 'push', source: 'dead_token' }),
      entry('ada@bücher.example', { workspace: 'club', source: 'import' }),
    ];
    await suppressions.addAll(entries);
  });

  it.each([
    ['', ['complaint', 'dead_token', 'hard_bounce', 'stop']],
    ['?channel=sms', ['stop']],
    ['?source=complaint', ['complaint']],
    [`?address=${encodeURIComponent(' ADA@BÜCHER.example. ')}`, ['complaint', 'hard_bounce']],
    [`?address=${encodeURIComponent('+49 (30) 123-456')}`, ['stop']],
    [`?address=${TOKEN}`, ['dead_token']],
    [`?address=${encodeURIComponent('ada@bücher.example')}&channel=sms`, []],
    ['?address=nobody@example.com', []],
  ])('narrowed by %j has these sources', async (query, sources) => {
    expect(sourcesOf(await get(query))).toEqual(sources);
  });

  it('for all workspaces contains the entries of every workspace', async () => {
    const address = encodeURIComponent('ada@bücher.example');
    const all = await fixture.call('GET', `/v1/workspaces/-/suppressions?address=${address}`);
    expect(sourcesOf(all)).toEqual(['complaint', 'hard_bounce', 'import']);
  });

  it.each([
    ['?source=bounce', 'source: there is no source bounce; known: complaint, dead_token, hard_bounce'],
    ['?channel=mail', 'channel: there is no channel mail; did you mean email?'],
    [`?address=${TOKEN}x`, 'address: '],
    ['?stat=x', 'stat'],
  ])('refuses %j', async (query, words) => {
    const { status, body } = await get(query);
    expect({ status, says: body.detail.includes(words) }).toEqual({ status: 400, says: true });
  });
});

describe('An address added by a person', () => {
  it('has its own entry with author and time, beside entries of other sources', async () => {
    await suppressions.add(entry('ada@example.com'));
    const made = await post('', { channel: 'email', address: ' Ada@EXAMPLE.com', detail: 'asked by phone' });
    expect(made).toMatchObject({ status: 200, body: { added: true } });
    const { body } = await get('?address=ADA@example.com&source=operator');
    expect(body.items).toEqual([
      {
        workspace: 'shop',
        channel: 'email',
        address: 'ada@example.com',
        source: 'operator',
        detail: 'asked by phone',
        by: 'ann',
        delivery_id: null,
        at: expect.stringMatching(/^\d{4}-/) as unknown,
      },
    ]);
    const again = await post('', { channel: 'email', address: 'ada@example.com', detail: 'another' });
    expect(again.body).toMatchObject({ added: false, items: [{}, { detail: 'asked by phone' }] });
  });

  it.each([
    ['sms', '0171 1234567', 'phone number in international form'],
    ['sms', '+49171123456789012', 'phone number in international form'],
    ['sms', '+49 CALL NOW', 'phone number in international form'],
    ['email', 'ada@localhost', 'email address'],
    ['email', 'ada', 'email address'],
    ['push', ' \t', 'device token'],
  ])('is refused on %s if it is %j, and the refusal does not repeat it', async (channel, address, words) => {
    const { status, body } = await post('', { channel, address });
    expect({ status, says: body.detail.includes(words) }).toEqual({ status: 400, says: true });
    expect(body.detail).not.toContain(address.trim() || 'never');
    expect(sourcesOf(await get(''))).toEqual([]);
  });

  it.each([
    ['email', '二ノ宮@黒川.日本', '二ノ宮@xn--5rtw95l.xn--wgv71a'],
    ['sms', '+４９ 30 123456', '+4930123456'],
    ['push', TOKEN, TOKEN],
  ])(
    'is stored on %s in canonical form, in another script or at maximum length',
    async (channel, address, canonical) => {
      expect((await post('', { channel, address })).status).toBe(200);
      expect((await get('')).body.items).toMatchObject([{ address: canonical }]);
      expect((await post('/remove', { channel, address })).status).toBe(200);
    },
  );
});

describe('A file of addresses', () => {
  const FILE =
    '\ufeffChannel,ADDRESS,Detail,Note\r\nemail,Ada@Example.com,"said ""no"",\r\ntwice",x\r\n\r\nSMS,\'+49 30 123456,,\r\n,,,\r\n';

  it('may contain quotes, line breaks, a byte order mark and empty lines, and a repeated import changes nothing', async () => {
    const first = await importing(FILE);
    expect(first).toMatchObject({
      status: 200,
      body: { rows: 2, taken: 2, added: 2, refused: 0, ignored_columns: ['note'] },
    });
    const held = (await get('')).body.items;
    expect(held).toMatchObject([
      { source: 'import', by: 'ann', address: expect.anything() as unknown },
      { source: 'import', by: 'ann' },
    ]);
    expect(held.map(({ address }) => address).toSorted()).toEqual(['+4930123456', 'ada@example.com']);
    expect((await suppressions.find('shop', 'email', 'ada@example.com'))?.detail).toBe('said "no",\r\ntwice');
    expect((await importing(FILE)).body).toMatchObject({ rows: 2, taken: 2, added: 0 });
    expect((await get('')).body.items).toEqual(held);
  });

  it('names the line of each refused row, and imports the others', async () => {
    const csv = [
      'address,channel,workspace',
      'ada@example.com,email,shop',
      '0171 1234567,sms,',
      'bob@example.com,mail,',
      'bob,,',
      'eve@example.com,email,club',
      'x"y@example.com,email,',
      'bob@example.com,email,,',
      '',
      'carl@example.com,email',
    ].join('\n');
    const { body } = await importing(csv, '?first_line=100');
    expect(body).toMatchObject({ rows: 8, taken: 2, added: 2, refused: 6 });
    expect((body as unknown as { faults: unknown }).faults).toEqual([
      { line: 101, message: 'address: it is no phone number in international form, such as +49 30 123456' },
      { line: 102, message: 'channel: takes email, sms, push' },
      {
        line: 103,
        message: expect.stringMatching(
          /^channel: the address is no email address, and a phone number begins with \+; write email, sms, push .*--channel/,
        ) as unknown,
      },
      { line: 104, message: 'workspace: it is of another workspace, club' },
      { line: 105, message: expect.stringContaining('quote') as unknown },
      { line: 106, message: expect.stringContaining('has 4 cells, and the first line names 3 columns') as unknown },
    ]);
    const { body: given } = await importing('address\n0171\nbob@example.com\n', '?channel=email');
    expect(given).toMatchObject({ rows: 2, taken: 1, refused: 1 });
  });

  it('without a channel column takes the channel from the form of each address, and never takes a phone number for a device token', async () => {
    const { body } = await importing(
      "address\nAda@Example.com\n+49 30 123456\n'+4930654321\n0171 1234567\na@b\nabc:def\n",
    );
    expect(body).toMatchObject({ rows: 6, taken: 3, refused: 3 });
    expect((body as unknown as { faults: { line: number; message: string }[] }).faults).toEqual([
      { line: 5, message: expect.stringContaining('a phone number begins with +') as unknown },
      { line: 6, message: 'address: it is no email address' },
      { line: 7, message: expect.stringContaining('write email, sms, push into the row') as unknown },
    ]);
    const held = (await get('')).body.items.map(({ channel, address }) => `${channel} ${address}`);
    expect(held.toSorted()).toEqual(['email ada@example.com', 'sms +4930123456', 'sms +4930654321']);
    const said = await importing('address\nada@example.com\n', '?channel=push');
    expect(said.body).toMatchObject({ taken: 1, added: 1 });
  });

  it.each([
    ['', 'the file is empty'],
    ['\r\n\r\n', 'the file is empty'],
    [
      'adress,channel\nada@example.com,email',
      'line 1: the first line names the columns, and none is called address (did you mean adress?)',
    ],
    ['address;channel\nada@example.com;email', 'line 1: expected commas between the columns'],
    ['address,Address\na,b', 'line 1: two columns have the same name'],
    ['address,"x\nada@example.com,email', 'line 1: a quote opens a cell'],
    [`address\n${'x\n'.repeat(5001)}`, '5001 rows are too many for one request'],
    [`address\n${'x'.repeat(70_000)}`, 'line 2 is longer than 65536 characters'],
  ])('that begins %j is refused as a whole', async (csv, words) => {
    const { status, body } = await importing(csv, '?channel=email');
    expect({ status, detail: body.detail }).toEqual({ status: 400, detail: expect.stringContaining(words) as unknown });
  });

  it('is refused where it is not UTF-8, too large, or no CSV', async () => {
    const latin = Buffer.from('address\nm\xfcller@example.com\n', 'latin1');
    expect((await fixture.call('POST', `${SHOP}/import`, latin, 'text/csv')).body.detail).toContain('not UTF-8');
    const large = await importing(`address\n${'ada@example.com\n'.repeat(70_000)}`);
    expect(large).toMatchObject({
      status: 413,
      body: { detail: 'The body can have at most 1 MiB. Send less in one request.' },
    });
    const json = await post('/import', { address: 'ada@example.com' });
    expect(json).toMatchObject({ status: 400, body: { detail: 'send the file with Content-Type: text/csv' } });
  });
});

describe('The list as a file', () => {
  const rowsOf = (text: string) => {
    const reader = createCsvReader();
    return [...reader.push(text), ...reader.end()].map(({ cells }) => cells.map(unguardedCell));
  };

  it('contains no cell that a spreadsheet would execute, and can be imported unchanged', async () => {
    await suppressions.addAll([
      entry('+4930123456', { channel: 'sms', source: 'stop', detail: '=HYPERLINK("https://evil.example")' }),
      entry('ada@example.com', { source: 'operator', by: '@ann', detail: 'said "no"', deliveryId: null }),
    ]);
    const answer = await exported();
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="suppressions.csv"',
    });
    const cells = rowsOf(answer.body).flat();
    expect(answer.body).not.toMatch(/(?:^|,)"[=+\-@]/m);
    expect(cells).toEqual(expect.arrayContaining(['+4930123456', '=HYPERLINK("https://evil.example")', '@ann']));
    await fixture.close();
    await open((suppressions = createMemorySuppressions().connect(createDirectWire())));
    expect((await importing(answer.body)).body).toMatchObject({ taken: 2, added: 2, refused: 0 });
    expect((await get('?channel=sms')).body.items).toMatchObject([
      { address: '+4930123456', source: 'import', detail: 'stop: =HYPERLINK("https://evil.example")' },
    ]);
  });

  it('is complete at any length, with the filters of the list, and for all workspaces', async () => {
    const many = Array.from({ length: 2345 }, (_, at) => entry(`${at}@example.com`, { at }));
    await suppressions.addAll([...many, entry('a@example.com', { workspace: 'club', source: 'stop' })]);
    expect(rowsOf((await exported()).body)).toHaveLength(2346);
    expect(rowsOf((await exported('?address=77@EXAMPLE.com')).body)).toHaveLength(2);
    const all = await exported('', '/v1/workspaces/-/suppressions');
    expect(rowsOf(all.body)).toHaveLength(2347);
  });

  it('aborts the download if the list cannot be read to its end', async () => {
    await fixture.close();
    let asked = 0;
    const list: SuppressionList['list'] = async () => {
      if (asked > 0) throw new Error('the database went away');
      asked += 1;
      return { items: [entry('ada@example.com')], next: 'more' };
    };
    await open({ ...suppressions, list });
    await expect(exported()).rejects.toThrow();
  });
});

describe('Rows of a table', () => {
  const shape = { columns: ['address', 'detail'], needed: ['address'], firstLine: 2, mostRows: 100 } as const;
  const titled = (columns: number): string =>
    `address,${Array.from({ length: columns - 1 }, (_, at) => `c${at}`).join(',')}\nada@example.com\n`;

  it('have at most a hundred columns, since each more is work for every row', () => {
    expect(readTable(titled(100), shape).rows.map(({ cell }) => cell('address'))).toEqual(['ada@example.com']);
    expect(() => readTable(titled(101), shape)).toThrow('line 1: the first line has 101 columns; the limit is 100');
  });

  it('have no column twice, unless it has no name', () => {
    expect(() => readTable('address,Detail,detail\na,b,c\n', shape)).toThrow('two columns have the same name');
    expect(
      readTable('detail,,,address\nx,1,2,a\n', shape).rows.map(({ cell }) => cell('address') + cell('detail')),
    ).toEqual(['ax']);
  });

  it('are counted exactly, accepted or refused, for any cell contents', () => {
    const cells = fc.string({ unit: fc.constantFrom('"', ',', '\n', 'a', "'", '=', ';'), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.array(cells, { maxLength: 3 }), { maxLength: 8 }), (table) => {
        const text = `address,detail\n${table.map((row) => row.join(',')).join('\n')}`;
        const read = readTable(text, shape);
        const reader = createCsvReader();
        const records = [...reader.push(text), ...reader.end()].slice(1);
        const full = records.filter((one) => one.fault !== null || one.cells.some((cell) => cell.trim() !== ''));
        expect(read.rows.length + read.faults.length).toBe(full.length);
        const lines = [...read.rows, ...read.faults].map(({ line }) => line).toSorted((a, b) => a - b);
        expect(lines).toEqual(full.map(({ line }) => line));
      }),
    );
  });
});
