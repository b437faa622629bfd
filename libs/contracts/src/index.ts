export * from './generated/record-schemas.generated.ts';
export * from './generated/topics.generated.ts';
export * from './http/problem.ts';
export { type Codec, incompatibility, type SchemaIds } from './records/codec.ts';
export type { DecodeFault } from './records/framing.ts';
export * from './records/record-codecs.ts';
export * from './http/dropped.ts';
export * from './http/management.ts';
export * from './http/samples.ts';
