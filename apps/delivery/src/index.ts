export { startDelivery, type DeliveryConfig, type DeliveryRole } from './start.ts';
export type { DeliveryPorts, DeliveryWatch } from './ports.ts';
