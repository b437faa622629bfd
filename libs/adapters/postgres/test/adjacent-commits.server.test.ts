import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { connect, type Connection } from '../src/connection/connect.ts';
import { formatLsn } from '../src/reading/lsn.ts';
import { ReplicationStream } from '../src/reading/replication-stream.ts';
import { ACCESS, ReadingDatabase } from './support/reading-database.ts';

const SLOT = (database: ReadingDatabase): string => `slot_${database.database.name}`;
const COMMIT = 0x43;

/** Begin and end of the commit record of each transaction that a slot sends, until `count` came. */
async function readCommits(
  stream: ReplicationStream,
  count: number,
): Promise<readonly Record<'begin' | 'end', bigint>[]> {
  const commits: { begin: bigint; end: bigint }[] = [];
  while (commits.length < count) {
    for (const item of await stream.next(1)) {
      if (item.kind === 'message' && item.bytes[0] === COMMIT) {
        commits.push({ begin: item.bytes.readBigUInt64BE(2), end: item.bytes.readBigUInt64BE(10) });
      }
    }
  }
  return commits;
}

describeWith('postgres', 'two transactions whose commits are adjacent in the WAL', () => {
  let database: ReadingDatabase;
  const clients: pg.Client[] = [];
  const connections: Connection[] = [];
  beforeEach(async () => {
    database = await ReadingDatabase.create((await sharedServer('postgres')).url);
    await database.run('CREATE TABLE kept (id serial PRIMARY KEY)');
    for (let index = 0; index < 2; index += 1) {
      const client = new pg.Client(database.database.url);
      clients.push(client);
      await client.connect();
      await client.query('SET synchronous_commit = off');
    }
  });
  afterEach(async () => {
    await Promise.all([
      ...clients.splice(0).map((client) => client.end()),
      ...connections.splice(0).map((each) => each.end()),
    ]);
    await database.drop();
  });

  /** Two transactions, of which the second commits right behind the first. Other tests write to the same WAL meanwhile. */
  async function commitTwice(): Promise<void> {
    const [first, second] = clients;
    for (const client of [first, second]) await client?.query('BEGIN; INSERT INTO kept DEFAULT VALUES');
    await Promise.all([first?.query('COMMIT'), second?.query('COMMIT')]);
  }

  const stream = async (from: bigint): Promise<ReplicationStream> => {
    const replication = await connect(ACCESS, database.target, 'replication');
    connections.push(replication);
    return ReplicationStream.start(
      replication,
      { slot: SLOT(database), publication: 'kept', from },
      { statusMs: 50, silenceMs: 10_000 },
    );
  };

  /** Resolves once the slot stands at a position. */
  const waitForSlot = (lsn: bigint): Promise<void> =>
    expect
      .poll(
        async () => {
          const [row] = await database.run(
            'SELECT confirmed_flush_lsn::text AS lsn FROM pg_replication_slots WHERE slot_name = $1',
            [SLOT(database)],
          );
          return String(row?.['lsn']);
        },
        { timeout: 10_000 },
      )
      .toBe(formatLsn(lsn));

  async function makeAdjacentCommits(): Promise<{ readonly firstEnd: bigint; readonly secondBegin: bigint }> {
    await database.run('CREATE PUBLICATION kept FOR TABLE kept');
    await database.run("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [SLOT(database)]);
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const reader = await stream(0n);
      await commitTwice();
      const [first, second] = await readCommits(reader, 2);
      await reader.close();
      if (first !== undefined && second !== undefined && first.end === second.begin) {
        return { firstEnd: first.end, secondBegin: second.begin };
      }
      const again = await stream(0n);
      again.acknowledge(second?.end ?? 0n);
      await waitForSlot(second?.end ?? 0n);
      await again.close();
    }
    throw new Error('no two commits were adjacent');
  }

  it('are both read, even if the connection is cut once the first is acknowledged', async () => {
    const { firstEnd, secondBegin } = await makeAdjacentCommits();
    const cut = await stream(0n);
    cut.acknowledge(firstEnd);
    await waitForSlot(firstEnd);
    await cut.close();
    const [next] = await readCommits(await stream(0n), 1);
    expect(next?.begin).toBe(secondBegin);
  });

  it('lose the second if one byte more is acknowledged, as the client library’s own service does', async () => {
    const { firstEnd } = await makeAdjacentCommits();
    const cut = await stream(0n);
    cut.acknowledge(firstEnd + 1n);
    await waitForSlot(firstEnd + 1n);
    await cut.close();
    const reader = await stream(0n);
    await commitTwice();
    const [next] = await readCommits(reader, 1);
    expect(next?.begin).toBeGreaterThan(firstEnd);
  });
});
