export { CONFIGURATION_FRESH_FOR } from './config.ts';
export type { GatewayConfig } from './config.ts';
export { CUT_OFF_REASONS, RETURNED_MAIL } from './ports.ts';
export type {
  CutOffReason,
  GatewayPorts,
  GatewayTelemetry,
  PresentedKeys,
  RequestSpan,
  ReturnedMail,
} from './ports.ts';
export { startGateway, type RunningGateway } from './start.ts';
