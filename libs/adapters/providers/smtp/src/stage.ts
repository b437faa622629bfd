/**
 * How far an attempt had come. `body`: the server asked for the message and got a part of it, the final dot not
 * among it. `dot`: the final dot may have reached the server, so only a reply can say what became of the message.
 */
export const STAGES = [
  'resolve',
  'connect',
  'tls',
  'greeting',
  'login',
  'mail',
  'rcpt',
  'data',
  'body',
  'dot',
] as const;
export type SmtpStage = (typeof STAGES)[number];

/** Stages in which the server has not been told of any message: its refusals are about us. */
export const BEFORE_MAIL: readonly SmtpStage[] = ['resolve', 'connect', 'tls', 'greeting', 'login'];
/** Stages in which a refusal can be about the recipient. */
export const FROM_RCPT: readonly SmtpStage[] = ['rcpt', 'data', 'body', 'dot'];
