export { CONFIGURATION_FRESH_FOR } from './config.ts';
export type { GatewayConfig } from './config.ts';
export { CUT_OFF_REASONS } from './ports.ts';
export type { CutOffReason, GatewayPorts, GatewayTelemetry, PresentedKeys, RequestSpan } from './ports.ts';
export { startGateway, type RunningGateway } from './start.ts';
