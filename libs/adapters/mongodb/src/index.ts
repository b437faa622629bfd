export { openMongo, type MongoOptions, type MongoStores } from './mongo.ts';
export type { MongoCredentials, MongoTls } from './connection.ts';
export type { StoreCheck } from './verify.ts';
