import type { ChannelSender } from '@carillon/ports';
import { redact } from './redact.ts';
import { replyCode } from './reply.ts';
import { SmtpSession } from './session.ts';
import { credentialsOf, type SessionSettings } from './settings.ts';
import type { SmtpStage } from './stage.ts';

type Step = Awaited<ReturnType<ChannelSender['check']>>[number];

const stepName = (stage: SmtpStage): string => (stage === 'tls' ? 'TLS' : stage);

/** Connects and logs in over a connection of its own; the steps end with the first that fails. */
export async function checkAccount(settings: SessionSettings): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const limit = AbortSignal.timeout(settings.timeouts.attempt);
  const opened = await SmtpSession.open(settings, limit, (step, detail) => steps.push({ step, ok: true, detail }));
  if (opened.ok) {
    await opened.value.quit();
    return steps;
  }
  const { stage, reply, words } = opened.error;
  const credentials = credentialsOf(settings);
  const unanswered = limit.aborted ? 'The server took too long.' : words;
  const detail =
    reply === null ? unanswered : `the server answered ${replyCode(reply)}: ${redact(reply.text, { credentials })}`;
  return [...steps, { step: stepName(stage), ok: false, detail }];
}
