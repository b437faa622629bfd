export { buildProgram } from './program.ts';
export { main } from './main.ts';
export { startAll, type Running } from './up/start-all.ts';
export { ROLES, type RoleName } from './run/role-names.ts';
export { readProcessContext, readSettings, type ProcessSettings } from './process/settings.ts';
export { SECRETS_OF_A_PROCESS } from './process/secret-files.ts';
