export { buildControl, type Control, type ControlSurroundings } from './build.ts';
export { apiDocument } from './openapi/api-document.ts';
export type { ApiDocument, Operation } from './openapi/complete-document.ts';
export { applyFolder, planFolder, type FolderRequest } from './configuration.ts';
export { checkStep, checkSteps } from './checks.ts';
export type { Check, ControlConfig, ControlPorts } from './ports.ts';
export { createApiKey } from './routes/configuration/api-keys.ts';
export { startControl, type ControlRole } from './start.ts';
export { roleTables } from './access/role-tables.ts';
