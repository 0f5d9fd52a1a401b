# The least that a deployment needs: one folder, one billing account, everyone of one Workspace domain; alerts for its operator.

terraform {
  required_version = ">= 1.9.0"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 7, < 9"
    }
  }

  # terraform init -backend-config=bucket=<the bucket of the state>
  backend "gcs" {
    prefix = "plinth/terraform"
  }
}

provider "google" {
  project = var.project_id
  # Quotas of the deployment's project, not of the project that the operator's credentials come from.
  user_project_override = true
  billing_project       = var.project_id
}

module "plinth" {
  source = "../.."

  project_id       = var.project_id
  region           = var.region
  deployment       = var.deployment
  release          = var.release
  release_bucket   = var.release_bucket
  parents          = [var.parent]
  billing_accounts = [var.billing_account]
  machine_access   = "iap" # docs/operate/deploy.md, "How machines are reached"
  oauth_clients    = [var.oauth_client]
  operators        = [var.operator]
  alert_emails     = [var.operator]
  bootstrappers    = { domains = [split("@", var.operator)[1]] }
  # Organizations of today let no stranger in, so Cloud Run asks first. docs/operate/deploy.md, "Who passes the front end".
  invokers = ["domain:${split("@", var.operator)[1]}"]
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
