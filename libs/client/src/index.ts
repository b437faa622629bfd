export type { BatchResult } from './batch.ts';
export {
  createClient,
  type Client,
  type ClientOptions,
  type Credential,
  type Repeat,
  type SendOptions,
  type Sent,
} from './client.ts';
export { SendError } from './send-error.ts';
