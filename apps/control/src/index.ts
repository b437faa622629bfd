export { applyFolder, planFolder, publishPorts, type FolderRequest } from './configuration.ts';
export { checkStep, checkSteps } from './checks.ts';
export type { Check, ControlConfig, ControlPorts } from './ports.ts';
export { createApiKey } from './routes/api-keys.ts';
export { startControl, type ControlRole } from './start.ts';
