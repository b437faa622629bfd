export { KAFKA_API, startKafkaProxy, type KafkaProxy, type RequestFate } from './kafka-proxy.ts';
export { startTcpProxy, type TcpFault, type TcpProxy } from './tcp-proxy.ts';
