export { withLock } from './cache/cache-lock.ts';
export { startKafka, type KafkaNode, type KafkaOptions, type KafkaService } from './kafka/kafka.ts';
export type { KafkaVersion } from './kafka/kafka-release.ts';
export { startFerretDb, type FerretDbOptions, type FerretDbService, type MongoDbService } from './mongodb/ferretdb.ts';
export { startMongoDb } from './mongodb/mongodb.ts';
export { prepareService } from './prepare-service.ts';
export { freePorts } from './process/free-ports.ts';
export { startRegistry, type RegistryOptions, type RegistryService } from './registry/registry.ts';
export type { Say, Service, ServicePart } from './service.ts';
