import type { Problem } from '@carillon/contracts';
import type { Command } from 'commander';
import { linkedProblem, readAnswer, seg, type Client, type CommonOptions } from '../client.ts';
import { CommandError, UsageError } from '../failure.ts';
import { paint } from '../output.ts';
import { answer, command } from './api-command.ts';
import { readText } from './read-text.ts';
import { sampleCommand } from './rule-sample.ts';
import { ruleTestCommand } from './rule-test.ts';
import { environment } from '../config.ts';

export function ruleCommands(program: Command): void {
  const rule = program.command('rule').description('rules: test with events, sample event');
  sampleCommand(rule);
  ruleTestCommand(rule);
}

export function sendCommand(program: Command): void {
  command(program, 'send <stream>', 'send an event as a client does')
    .option('--file <file>', 'file with the event as JSON; - for standard input', '-')
    .option(
      '--key <where>',
      'source of the API key: - for standard input, or the name of a variable',
      'CARILLON_API_KEY',
    )
    .option('--idempotency-key <key>', 'repeated calls with this key send one event')
    .action(async (stream: string, options: CommonOptions & { file: string; key: string; idempotencyKey?: string }) => {
      const key = readKey(options);
      const body = readText(options.file);
      await answer(
        options,
        async (client) => {
          const { events_url: url } = await client.status();
          const path = await streamPath(client, stream);
          return postEvent(`${url}/${path}`, key, body, options.idempotencyKey).catch((error: unknown) =>
            explained(client, path, error),
          );
        },
        (sent) => `${sent.id}\n${paint('dim', `npx carillon trace ${sent.id}`)}`,
      );
    });
}

/** An EVENT_PATH, or what follows its slash where the workspace is named or the only one. */
async function streamPath(client: Client, stream: string): Promise<string> {
  if (stream.includes('/')) return stream;
  const { workspaces } = await client.status();
  const named = client.named ?? (workspaces.length === 1 ? workspaces[0] : undefined);
  if (named !== undefined) return `${named}/${stream}`;
  const found = await client.get<{ stream: string }>(
    `/v1/workspaces/${seg(client.reach)}/streams/${seg(stream)}/fields`,
  );
  throw new UsageError(`name the stream with its workspace: ${found.stream}`);
}

/** The intake does not reveal paths, but the management API may suggest the most similar one. */
async function explained(client: Client, path: string, error: unknown): Promise<never> {
  const status = error instanceof CommandError ? error.problem?.status : undefined;
  if (status === 401 || status === 404) {
    await client.get(`/v1/workspaces/${seg(client.anywhere)}/streams/${seg(path)}/fields`);
  }
  throw error;
}

/** Never the key itself: arguments are seen in process lists and histories. */
function readKey({ key: where, file }: { readonly key: string; readonly file: string }): string {
  if (where === '-') {
    if (file === '-')
      throw new UsageError(
        'standard input can be the key or the event, not both: read the event from a file with --file',
      );
    const key = readText('-').trim();
    if (key === '') throw new UsageError('standard input is empty: pipe the API key in');
    return key;
  }
  if (!/^[A-Z_][A-Z0-9_]*$/.test(where)) {
    throw new UsageError(
      '--key takes the name of a variable, because a key on the command line is visible to all users of this machine: set CARILLON_API_KEY, name another variable, or pipe the key in with --key -',
    );
  }
  const key = environment[where];
  if (!key) throw new UsageError(`no API key: set ${where}, or pipe it in with --key -`);
  return key;
}

async function postEvent(url: string, key: string, body: string, idempotencyKey?: string): Promise<{ id: string }> {
  const answered = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body,
  }).catch(() => {
    throw new CommandError(`no server answers at ${url}`);
  });
  const parsed = (await readAnswer(answered, url)) as { id: string } & Partial<Problem>;
  if (answered.status === 202) return parsed;
  const { detail = 'refused', line, column } = parsed;
  const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`;
  throw new CommandError(`${answered.status}: ${detail}${place}`, linkedProblem(parsed as Problem, url));
}
