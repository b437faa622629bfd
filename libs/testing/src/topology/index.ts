export { untilFound } from '../smtp/deadline.ts';
export { startScriptedSmtp, type ScriptedSmtp } from '../smtp/scripted-smtp.ts';
export * from './settle.ts';
export * from './topology.ts';
