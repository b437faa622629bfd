export { createSinchSenderFactory, type SinchSenderDeps } from './sender.ts';
