export { createSandboxSenderFactory, type SandboxSenderDeps } from './sender.ts';
