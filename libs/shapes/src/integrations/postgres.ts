import { keys, said, secret } from '../shape-parts.ts';
import { defineIntegration } from './integration.ts';

export const postgres = defineIntegration({
  kind: 'postgres',
  role: 'database',
  title: 'PostgreSQL database',
  summary: 'Carillon reads which rows of your tables are created, updated and deleted.',
  description:
    'A PostgreSQL database, version 14 or newer, whose changes streams read (`from`). Carillon keeps one replication slot in it.',
  setup: null,
  checkNote: 'Carillon connects and looks at the server, its settings and the role. It changes nothing.',
  keys: {
    url: said(secret, {
      description:
        'Reference to the address with user and password, such as `postgres://carillon:…@db.example.com/shop`; never the address itself. A private address, also 127.0.0.1, counts only where `allowed_private_addresses` of the deployment lists it.',
      example: { secret: 'SHOP_DB' },
      form: {
        label: 'URL',
        ending: 'URL',
        note: 'Address with user and password, such as postgres://carillon:…@db.example.com/shop. Stored as a secret. The draft contains only the name of the secret.',
      },
    }),
    tls: said(
      keys({
        ca: said(secret, {
          description: 'Reference to the certificate of the authority that signed the server’s certificate, as PEM.',
          example: { secret: 'SHOP_CA' },
          form: {
            label: 'Certificate authority',
            ending: 'CA',
            isLong: true,
            isRare: true,
            note: 'PEM. Needed if no public authority signed the certificate of the server.',
          },
        }),
      }).exactOptional(),
      {
        description:
          'How the certificate of the server is checked. Outside private addresses the connection always uses TLS.',
        otherwise: 'by the public authorities',
      },
    ),
  },
  secrets: ({ url, tls }) => (tls === undefined ? [url] : [url, tls.ca]),
});
