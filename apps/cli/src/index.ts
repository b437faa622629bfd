export { buildProgram } from './program.ts';
export { main } from './main.ts';
export { startAll, type Running } from './up/start-all.ts';
export type { ProcessSettings } from './process/settings.ts';
