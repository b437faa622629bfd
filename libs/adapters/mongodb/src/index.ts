export { openMongo, type MongoOptions, type MongoStores } from './mongo.ts';
export type { MongoCredentials, MongoTls } from './connection.ts';
export { DEFAULT_ROW_RETENTION, type RowRetention } from './retention.ts';
export type { StoreCheck } from './verify.ts';
