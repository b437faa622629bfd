import type { TopicTarget } from '@carillon/ports';
import scram256 from 'kafkajs/src/broker/saslAuthenticator/scram256.js';
import scram512 from 'kafkajs/src/broker/saslAuthenticator/scram512.js';
import { waiting } from './failures.ts';

type Sasl = NonNullable<TopicTarget['sasl']>;
/** Sends a message of the login. The first answer of SCRAM has the iteration count as `i`. */
type Exchange = (message: object) => Promise<{ readonly i?: string } | undefined>;
type Login = { authenticate(): Promise<void> };
type LoginProvider = (connection: { readonly saslAuthenticate: Exchange }) => Login;

/**
 * Maximum SCRAM iterations accepted from a broker. Kafka's own tools allow 16,384. Without a maximum a broker could
 * keep a thread busy for hours.
 */
const MAX_ITERATIONS = 100_000;

const SCRAM: Readonly<Partial<Record<Sasl['mechanism'], unknown>>> = {
  'scram-sha-256': scram256,
  'scram-sha-512': scram512,
};

/** Returns the login of kafkajs, without more iterations of SCRAM than a broker needs. */
export function boundedSasl(sasl: Sasl): Sasl & { readonly authenticationProvider?: LoginProvider } {
  const scram = SCRAM[sasl.mechanism] as ((sasl: Sasl) => LoginProvider) | undefined;
  if (scram === undefined) return { ...sasl };
  const provider = scram(sasl);
  return {
    ...sasl,
    authenticationProvider(connection) {
      let refusal: Error | null = null;
      const login = provider({
        ...connection,
        async saslAuthenticate(message) {
          const answer = await connection.saslAuthenticate(message);
          if (Number(answer?.i ?? 0) <= MAX_ITERATIONS) return answer;
          refusal = waiting('refused_login', `The broker asks for more than ${MAX_ITERATIONS} iterations of SCRAM.`);
          throw refusal;
        },
      });
      return {
        async authenticate() {
          try {
            await login.authenticate();
          } catch (error) {
            throw refusal ?? error;
          }
        },
      };
    },
  };
}
