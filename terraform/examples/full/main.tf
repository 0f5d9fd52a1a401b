# A deployment with everything set: two parents, shared DNS zones, IAM in front, budgets, alerts, sizes.

terraform {
  required_version = ">= 1.9.0"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 7, < 9"
    }
  }

  backend "gcs" {
    bucket = "acme-plinth-state"
    prefix = "plinth/production"
  }
}

provider "google" {
  project               = "acme-plinth"
  user_project_override = true
  billing_project       = "acme-plinth"
}

variable "release" {
  description = "Which release of plinth; cloudbuild.yaml gives the one that it built."
  type        = string
}

module "plinth" {
  source = "../.."

  project_id         = "acme-plinth"
  region             = "europe-west1"
  firestore_location = "eur3"
  deployment         = "production"
  release            = var.release
  release_bucket     = "acme-plinth-releases"

  parents          = ["folders/111111111111", "folders/222222222222"]
  billing_accounts = ["0123AB-4567CD-89EF01", "1123AB-4567CD-89EF02"]
  machine_access   = "iap" # docs/operate/deploy.md, "How machines are reached"
  # demo and trials stand; what is missing in acme-trial-dns, bootstraps make.
  dns_zones    = ["acme-dns/demo", "acme-dns/trials", "acme-trial-dns/one", "acme-trial-dns/two"]
  dns_projects = ["acme-trial-dns"]

  # Service accounts alone pass Cloud Run's own check with the tokens that plinth takes; for people see docs/operate/deploy.md.
  invokers              = ["domain:example.com", "serviceAccount:ci@acme-ci.iam.gserviceaccount.com"]
  oauth_clients         = ["1234567890-abc.apps.googleusercontent.com"]
  operators             = ["operator@example.com"]
  bootstrappers         = { domains = ["example.com"], emails = ["ci@acme-ci.iam.gserviceaccount.com"] }
  organization_creators = ["example.com"]

  settings = {
    PLINTH_LIVING_PER_OWNER = "5"
    PLINTH_LIVING_IN_ALL    = "60"
    PLINTH_MAX_TTL_SECONDS  = "604800"
  }

  # In USD, by the estimate (docs/operate/deploy.md, section 5).
  ceilings = { hour = 5, owner_month = 300, month = 2000 }

  sizes = {
    # No cold start while people are at work.
    bootstraps     = { min_instances = 1 }
    run-cloud-step = { max_instances = 50 }
  }

  alert_emails          = ["on-call@example.com"]
  package_deletion_days = 180

  budget = {
    billing_account = "0123AB-4567CD-89EF01"
    own             = 100
    bootstraps      = 5000
  }
}

output "endpoints" {
  description = "Where plinth is."
  value       = module.plinth.endpoints
}

output "package_bucket" {
  description = "Where packages to install go."
  value       = module.plinth.package_bucket
}

output "releases_url" {
  description = "Where machines fetch plinth's executable from."
  value       = module.plinth.releases_url
}

output "releases_sha256" {
  description = "SHA-256 of that executable, where a setting says so."
  value       = module.plinth.releases_sha256
}

output "config_yaml" {
  description = "For ~/.config/plinth/config.yaml."
  value       = module.plinth.config_yaml
}
