import { readFileSync } from 'node:fs';
import type { RuleTestBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { readAnswer, seg, type CommonOptions } from '../client.ts';
import { CommandError, UsageError } from '../failure.ts';
import { clean, paint } from '../output.ts';
import { messageLines } from '../message-lines.ts';
import { answer, command } from './answering.ts';
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
  const rule = program.command('rule').description('try rules out');
  sampleCommand(rule);
  command(rule, 'test <rule>', 'what a rule (notification.rule) would do with an event; sends nothing')
    .requiredOption('--event <file>', 'file with the event as JSON; - for standard input')
    .option('--answer <file>', 'of a rule that asks a partner: file with its answer as JSON')
    .option('--html', 'print HTML bodies too')
    .action(async (name: string, options: CommonOptions & { event: string; answer?: string; html?: boolean }) => {
      const event = readText(options.event);
      const pasted = options.answer === undefined ? {} : { answer: readText(options.answer) };
      await answer(
        options,
        (client) =>
          client.post<RuleTestBody>(`/v1/workspaces/${seg(client.reach)}/rules/${seg(name)}/test`, {
            event,
            ...pasted,
          }),
        (body) => showTest(body, options.html ?? false),
      );
    });
}

function showTest(body: RuleTestBody, withHtml: boolean): string {
  const lines = [`${paint('bold', body.rule)} version ${body.rule_version}, stream ${body.stream}`, '', 'when'];
  for (const one of body.explained) {
    lines.push(
      `  ${'  '.repeat(one.depth)}${clean(one.source)}  ${paint('dim', '→')}  ${paint('cyan', clean(one.value))}`,
    );
  }
  const why = body.error === null ? '' : `: ${clean(body.error)}`;
  lines.push('', body.fired ? paint('green', body.outcome) : paint('yellow', `does not fire (${body.outcome}${why})`));
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
    lines.push(`unique_id  ${clean(who.unique_id)}`, `variables  ${clean(who.variables)}`);
    if (who.already_told !== null) lines.push(paint('yellow', `already told: ${who.already_told} holds this slot`));
    for (const message of who.messages) lines.push(...messageLines(message, withHtml));
  }
  for (const drop of body.dropped) lines.push(paint('yellow', `dropped: ${clean(drop)}`));
  return lines.join('\n');
}

export function sendCommand(program: Command): void {
  command(program, 'send <stream>', 'post an event as a client would')
    .option('--file <file>', 'file with the event as JSON; - for standard input', '-')
    .option(
      '--key <where>',
      'where the API key is: - for standard input, or the name of a variable',
      'CARILLON_API_KEY',
    )
    .option('--idempotency-key <key>', 'makes the event id; the same again is the same event')
    .action(async (stream: string, options: CommonOptions & { file: string; key: string; idempotencyKey?: string }) => {
      const key = readKey(options);
      const body = readText(options.file);
      await answer(
        options,
        async (client) => {
          const { events_url: url } = await client.status();
          return postEvent(`${url}/${stream}`, key, body, options.idempotencyKey);
        },
        (sent) => `${sent.id}\n${paint('dim', `npx carillon trace ${sent.id}`)}`,
      );
    });
}

/** Never the key itself: arguments are seen in process lists and histories. */
function readKey({ key: where, file }: { readonly key: string; readonly file: string }): string {
  if (where === '-') {
    if (file === '-') throw new UsageError('standard input cannot be key and event: name a file with --file');
    const key = readText('-').trim();
    if (key === '') throw new UsageError('standard input is empty: pipe the API key in');
    return key;
  }
  if (!/^[A-Z_][A-Z0-9_]*$/.test(where)) {
    throw new UsageError(
      '--key does not take the key, which everybody on this machine could see: set CARILLON_API_KEY, name another variable, or pipe it in with --key -',
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
    throw new CommandError(`nobody answers at ${url}`);
  });
  const parsed = (await readAnswer(answered, url)) as { id: string; detail?: string };
  if (answered.status !== 202)
    throw new CommandError(`${answered.status}: ${parsed.detail ?? 'refused'}`, parsed as never);
  return parsed;
}
