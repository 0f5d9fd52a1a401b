import { deploysReleases } from './deploy-build.js';

deploysReleases(() => undefined);
