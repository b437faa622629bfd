export { KAFKA_API, startKafkaProxy, type KafkaProxy, type RequestFate } from './kafka-proxy.ts';
