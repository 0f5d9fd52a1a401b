import { recoversConfigs } from './recover-config.js';

recoversConfigs(it);
