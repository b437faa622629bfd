export { createSchemaRegistry, type KafkaSchemaRegistry } from './schema-registry.ts';
export type { RegistryConnection } from './connection.ts';
export { createTenantSchemas } from './tenant-schemas.ts';
