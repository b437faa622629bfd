export { CONFIGURATION_FRESH_FOR } from './config.ts';
export type { GatewayConfig } from './config.ts';
export type { GatewayPorts, GatewayTelemetry, PresentedKeys, RequestSpan } from './ports.ts';
export { startGateway, type RunningGateway } from './start.ts';
