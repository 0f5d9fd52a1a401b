variable "project_id" {
  description = "The project that plinth itself runs in."
  type        = string
}

variable "deployment" {
  description = "Name of this deployment, in the labels of all that it makes. It never changes: a cleaner touches only its own."
  type        = string
  default     = "plinth"
}

variable "region" {
  description = "Where plinth runs; the bucket of releases and the builds are there, too. Cloud Functions builds where a function is."
  type        = string

  # An older project may have others: then change this list.
  validation {
    condition     = contains(["us-central1", "us-west2", "europe-west1", "asia-east1", "australia-southeast1", "southamerica-east1"], var.region)
    error_message = "New projects may build in us-central1, us-west2, europe-west1, asia-east1, australia-southeast1 and southamerica-east1 alone."
  }
}

variable "release" {
  description = "Which release of plinth; cloudbuild.yaml gives the one that it built."
  type        = string
}

variable "release_bucket" {
  description = "Bucket of releases."
  type        = string
}

variable "parent" {
  description = "folders/<number> in which bootstraps make their projects, and plinth's own is not."
  type        = string
}

variable "billing_account" {
  description = "Who pays for the projects of bootstraps."
  type        = string
}

variable "oauth_client" {
  description = "Client id of the OAuth client that people sign in with."
  type        = string
}

variable "operator" {
  description = "E-mail of the first operator, who hears of alerts; people of the same domain may bootstrap."
  type        = string
}
