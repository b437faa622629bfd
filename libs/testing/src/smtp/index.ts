export { bringMail, statusReport } from './bring-mail.ts';
export { untilFound } from './deadline.ts';
export {
  type AcceptedMail,
  SCRIPT_STAGES,
  type ScriptMoment,
  type ScriptStage,
  type ScriptStep,
  type SmtpScript,
} from './dialogue.ts';
export { type ParsedMail, parseMail } from './mail-parsing.ts';
export { type ScriptedSmtp, type ScriptedSmtpOptions, startScriptedSmtp } from './scripted-smtp.ts';
export { selfSigned } from './self-signed.ts';
export { type LedgerEntry, type LedgerOptions, type LedgerSend, readLedger, readSends, serveLedger } from './ledger.ts';
export { type LedgerSmtp, startLedgerSmtp } from './ledger-process.ts';
export { type OpenSmtpd, startOpenSmtpd } from './opensmtpd.ts';
export { type Postfix, type PostfixOptions, startPostfix } from './postfix.ts';
