export {
  createHttp1Client,
  type Http1Client,
  type Http1Options,
  type Http1Request,
  type RequestLimits,
} from './http1.ts';
export { createHttp2Session, type Http2Options, type Http2Session, type Post } from './http2.ts';
export { createProviderSender, unusableSender, type ProviderSenderParts } from './provider-sender.ts';
export { resultOfUnanswered, type Answered, type RequestEnd } from './request-end.ts';
export { retryAfter } from './retry-after.ts';
