import { readFileSync } from 'node:fs';
import type { Problem, RuleTestBody } from '@carillon/contracts';
import { Option, type Command } from 'commander';
import { readAnswer, seg, type Client, type CommonOptions } from '../client.ts';
import { CommandError, UsageError } from '../failure.ts';
import { clean, paint } from '../output.ts';
import { shortened } from '../folded.ts';
import { messageLines } from '../message-lines.ts';
import { answer, command } from './api-command.ts';
import { readFolder } from './configuration.ts';
import { sampleCommand } from './rule-sample.ts';
import { environment } from '../config.ts';

/** A file's text, or standard input for `-`. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch {
    throw new UsageError(`cannot read ${file}`);
  }
}

export function ruleCommands(program: Command): void {
  const rule = program.command('rule').description('rules: test with an event, sample event');
  sampleCommand(rule);
  command(rule, 'test <rule>', 'show what a rule (notification.rule) would do with an event; sends nothing')
    .requiredOption('--event <event>', 'file with the event as JSON, - for standard input, or the id of one (evt_…)')
    .option('-f, --file <dir>', 'use the rule of this configuration folder instead of the published one')
    .addOption(new Option('--expect <outcome>', 'end with code 1 if it does otherwise').choices(['fires', 'nothing']))
    .option('--answer <file>', 'file with the partner’s answer as JSON, for a rule that asks a partner')
    .option('--html', 'print HTML bodies too')
    .option('--full', 'print long bodies and values in full')
    .action(async (name: string, options: TestOptions) => {
      const { event, file, answer: pasted, expect } = options;
      const request = {
        ...(/^evt_[0-9A-Z]{26}$/.test(event) ? { event_id: event } : { event: readText(event) }),
        ...(pasted !== undefined && { answer: readText(pasted) }),
        ...(file !== undefined && { files: readFolder(file) }),
      };
      const body = await answer(
        options,
        (client) => client.post<RuleTestBody>(`/v1/workspaces/${seg(client.reach)}/rules/${seg(name)}/test`, request),
        (tried) => showTest(tried, options),
      );
      if (expect !== undefined && body.fired !== (expect === 'fires')) {
        process.stderr.write(`${paint('red', 'carillon:')} expected ${expect}: ${clean(outcomeWords(body))}\n`);
        process.exitCode = 1;
      }
    });
}

type TestOptions = CommonOptions & {
  readonly event: string;
  readonly file?: string;
  readonly expect?: 'fires' | 'nothing';
  readonly answer?: string;
  readonly html?: boolean;
  readonly full?: boolean;
};

const outcomeWords = ({ fired, outcome, error }: RuleTestBody): string =>
  fired ? outcome : `does not fire (${outcome}${error === null ? '' : `: ${error}`})`;

function showTest(body: RuleTestBody, options: TestOptions): string {
  const { html = false, full = false, file } = options;
  const version = file === undefined ? `version ${body.rule_version}` : `as ${file} has it, not published`;
  const lines = [`${paint('bold', body.rule)} ${version}, stream ${body.stream}`, '', 'when'];
  for (const one of body.explained) {
    lines.push(
      `  ${'  '.repeat(one.depth)}${clean(one.source)}  ${paint('dim', '→')}  ${paint('cyan', full ? clean(one.value) : shortened(clean(one.value)))}`,
    );
  }
  lines.push('', paint(body.fired ? 'green' : 'yellow', clean(outcomeWords(body))));
  if (body.asks !== null) {
    const { integration, user_ids: ids } = body.asks;
    const some = ids.slice(0, 20).map(clean).join(', ');
    lines.push('', `asks       ${clean(integration)} about ${ids.length}: ${some}${ids.length > 20 ? ', …' : ''}`);
    if (body.recipients.length === 0 && body.problems.length === 0) {
      lines.push(paint('dim', 'give it an answer with --answer FILE: [{"to": {"email": "…"}, "variables": {…}}]'));
    }
  }
  for (const problem of body.problems) lines.push(paint('yellow', `answer: ${clean(problem)}`));
  for (const who of body.recipients) {
    const addresses = Object.entries(who.to).filter(([, address]) => address !== null);
    lines.push(
      '',
      `recipient  ${addresses.map(([key, address]) => `${key}: ${clean(address ?? '')}`).join(', ') || 'no address'}`,
    );
    lines.push(
      `unique_id  ${clean(who.unique_id)}`,
      `variables  ${full ? clean(who.variables) : shortened(clean(who.variables))}`,
    );
    if (who.already_told !== null) lines.push(paint('yellow', `already told: ${who.already_told} holds this slot`));
    for (const message of who.messages) lines.push(...messageLines(message, html, full));
  }
  for (const drop of body.dropped) lines.push(paint('yellow', `dropped: ${clean(drop)}`));
  return lines.join('\n');
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

/** The intake tells nobody which paths there are; whoever may use the management API is told the nearest. */
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
  throw new CommandError(`${answered.status}: ${detail}${place}`, parsed as Problem);
}
