/** Ports of health where no other is named (interfaces section 1). Control has it on its own port. */
export const HEALTH_PORTS = { engine: 7402, delivery: 7403, gateway: 7404 } as const;
